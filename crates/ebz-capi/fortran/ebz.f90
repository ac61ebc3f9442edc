! ebz for Fortran: compresses arrays to streams in memory and back, on top of the C interface.
!
! The first axis is the fastest in Fortran, the last one in C: shapes are reversed, so that programs
! in other languages see the axes in their own order. Every routine sets `status` (EBZ_OK or another
! code of ebz.h) and, unless it is EBZ_OK, `message`, which says what to do.
module ebz
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int8, int16, real32, real64
    implicit none
    private
    public :: ebz_pack, ebz_unpack

    ! Status codes.
    integer, parameter, public :: EBZ_OK = 0, EBZ_IO = 1, EBZ_CORRUPT = 2, EBZ_TRUNCATED = 3, &
        EBZ_INVALID = 4, EBZ_UNSUPPORTED = 5, EBZ_LIMIT = 6, EBZ_TOO_SMALL = 7, EBZ_INTERNAL = 8
    ! Bound kinds.
    integer, parameter, public :: EBZ_ABS = 1, EBZ_RANGE = 2, EBZ_POINTWISE = 3, EBZ_PSNR = 4, &
        EBZ_RATIO = 5, EBZ_PRECISION = 6, EBZ_LOSSLESS = 7
    ! Element types.
    integer(c_int32_t), parameter :: F32 = 1, F64 = 2
    integer, parameter, public :: EBZ_F16 = 3, EBZ_BF16 = 4

    ! Compresses a contiguous array of real32 or real64 of any rank:
    ! ebz_pack(values, EBZ_RANGE, 1d-3, stream, status, message [, codec]).
    ! Fortran has no 16-bit reals: pass their bits as int16, with `type` EBZ_F16 or EBZ_BF16:
    ! ebz_pack(bits, type, EBZ_RANGE, 1d-3, stream, status, message [, codec]).
    interface ebz_pack
        module procedure pack_real32, pack_real64, pack_bits
    end interface

    ! Decompresses a stream into a contiguous array of its type and shape:
    ! ebz_unpack(stream, values, status, message), or for the bits of 16-bit reals
    ! ebz_unpack(stream, bits, type, status, message).
    interface ebz_unpack
        module procedure unpack_real32, unpack_real64, unpack_bits
    end interface

    interface
        integer(c_int32_t) function c_options_new(bound, value, options, message) &
                bind(c, name='ebz_options_new')
            import
            integer(c_int32_t), value :: bound
            real(c_double), value :: value
            type(c_ptr), intent(out) :: options, message
        end function
        integer(c_int32_t) function c_options_set_codec(options, name, message) &
                bind(c, name='ebz_options_set_codec')
            import
            type(c_ptr), value :: options
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), intent(out) :: message
        end function
        subroutine c_options_free(options) bind(c, name='ebz_options_free')
            import
            type(c_ptr), value :: options
        end subroutine
        integer(c_int32_t) function c_max_compressed_size(options, type, axes, extents, size, &
                message) bind(c, name='ebz_max_compressed_size')
            import
            type(c_ptr), value :: options
            integer(c_int32_t), value :: type
            integer(c_size_t), value :: axes
            integer(c_size_t), intent(in) :: extents(*)
            integer(c_size_t), intent(out) :: size
            type(c_ptr), intent(out) :: message
        end function
        integer(c_int32_t) function c_compress(options, type, axes, extents, strides, values, out, &
                capacity, size, message) bind(c, name='ebz_compress')
            import
            type(c_ptr), value :: options, strides, values, out
            integer(c_int32_t), value :: type
            integer(c_size_t), value :: axes, capacity
            integer(c_size_t), intent(in) :: extents(*)
            integer(c_size_t), intent(out) :: size
            type(c_ptr), intent(out) :: message
        end function
        integer(c_int32_t) function c_decompress(bytes, size, type, axes, extents, strides, values, &
                threads, message) bind(c, name='ebz_decompress')
            import
            type(c_ptr), value :: bytes, strides, values
            integer(c_int32_t), value :: type
            integer(c_size_t), value :: size, axes, threads
            integer(c_size_t), intent(in) :: extents(*)
            type(c_ptr), intent(out) :: message
        end function
        subroutine c_message_free(message) bind(c, name='ebz_message_free')
            import
            type(c_ptr), value :: message
        end subroutine
        integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
            import
            type(c_ptr), value :: text
        end function
    end interface

contains

    subroutine pack_real32(values, bound, number, stream, status, message, codec)
        real(real32), intent(in), target, contiguous :: values(..)
        integer, intent(in) :: bound
        real(real64), intent(in) :: number
        integer(int8), allocatable, intent(out) :: stream(:)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        character(*), intent(in), optional :: codec
        call pack_any(F32, c_loc(values), shape(values), bound, number, stream, status, message, codec)
    end subroutine

    subroutine pack_real64(values, bound, number, stream, status, message, codec)
        real(real64), intent(in), target, contiguous :: values(..)
        integer, intent(in) :: bound
        real(real64), intent(in) :: number
        integer(int8), allocatable, intent(out) :: stream(:)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        character(*), intent(in), optional :: codec
        call pack_any(F64, c_loc(values), shape(values), bound, number, stream, status, message, codec)
    end subroutine

    subroutine pack_bits(values, type, bound, number, stream, status, message, codec)
        integer(int16), intent(in), target, contiguous :: values(..)
        integer, intent(in) :: type, bound
        real(real64), intent(in) :: number
        integer(int8), allocatable, intent(out) :: stream(:)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        character(*), intent(in), optional :: codec
        if (.not. is_bits(type, status, message)) return
        call pack_any(int(type, c_int32_t), c_loc(values), shape(values), bound, number, stream, &
            status, message, codec)
    end subroutine

    subroutine pack_any(type, values, extents, bound, number, stream, status, message, codec)
        integer(c_int32_t), intent(in) :: type
        type(c_ptr), intent(in) :: values
        integer, intent(in) :: extents(:), bound
        real(real64), intent(in) :: number
        integer(int8), allocatable, intent(out) :: stream(:)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        character(*), intent(in), optional :: codec
        integer(int8), allocatable, target :: room(:)
        integer(c_size_t) :: axes, most, used
        type(c_ptr) :: options, text
        axes = size(extents)
        status = c_options_new(int(bound, c_int32_t), number, options, text)
        if (status /= EBZ_OK) then
            call take(text, message)
            return
        end if
        if (present(codec)) status = c_options_set_codec(options, codec // c_null_char, text)
        if (status == EBZ_OK) &
            status = c_max_compressed_size(options, type, axes, reversed(extents), most, text)
        if (status == EBZ_OK) then
            allocate (room(most))
            status = c_compress(options, type, axes, reversed(extents), c_null_ptr, values, &
                c_loc(room), most, used, text)
            if (status == EBZ_OK) stream = room(:used)
        end if
        call c_options_free(options)
        call take(text, message)
    end subroutine

    subroutine unpack_real32(stream, values, status, message)
        integer(int8), intent(in), target, contiguous :: stream(:)
        real(real32), intent(inout), target, contiguous :: values(..)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        call unpack_any(F32, c_loc(stream), size(stream), c_loc(values), shape(values), status, &
            message)
    end subroutine

    subroutine unpack_real64(stream, values, status, message)
        integer(int8), intent(in), target, contiguous :: stream(:)
        real(real64), intent(inout), target, contiguous :: values(..)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        call unpack_any(F64, c_loc(stream), size(stream), c_loc(values), shape(values), status, &
            message)
    end subroutine

    subroutine unpack_bits(stream, values, type, status, message)
        integer(int8), intent(in), target, contiguous :: stream(:)
        integer(int16), intent(inout), target, contiguous :: values(..)
        integer, intent(in) :: type
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        if (.not. is_bits(type, status, message)) return
        call unpack_any(int(type, c_int32_t), c_loc(stream), size(stream), c_loc(values), &
            shape(values), status, message)
    end subroutine

    ! Whether a type has 16 bits; the memory would be too small for others.
    logical function is_bits(type, status, message)
        integer, intent(in) :: type
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        is_bits = type == EBZ_F16 .or. type == EBZ_BF16
        status = merge(EBZ_OK, EBZ_INVALID, is_bits)
        message = ''
        if (.not. is_bits) message = 'the type of 16-bit reals must be EBZ_F16 or EBZ_BF16'
    end function

    subroutine unpack_any(type, stream, length, values, extents, status, message)
        integer(c_int32_t), intent(in) :: type
        type(c_ptr), intent(in) :: stream, values
        integer, intent(in) :: length, extents(:)
        integer, intent(out) :: status
        character(:), allocatable, intent(out) :: message
        type(c_ptr) :: text
        status = c_decompress(stream, int(length, c_size_t), type, size(extents, kind=c_size_t), &
            reversed(extents), c_null_ptr, values, 0_c_size_t, text)
        call take(text, message)
    end subroutine

    ! Extents in C order.
    pure function reversed(extents) result(out)
        integer, intent(in) :: extents(:)
        integer(c_size_t) :: out(size(extents))
        out = extents(size(extents):1:-1)
    end function

    ! Copies and frees a C message.
    subroutine take(text, message)
        type(c_ptr), intent(in) :: text
        character(:), allocatable, intent(out) :: message
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        message = ''
        if (.not. c_associated(text)) return
        call c_f_pointer(text, letters, [c_strlen(text)])
        do i = 1, size(letters)
            message = message // letters(i)
        end do
        call c_message_free(text)
    end subroutine
end module ebz
