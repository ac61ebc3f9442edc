! Compresses a field under a bound and reads it back.
!
!     gfortran compress.f90 $(pkg-config --cflags --libs ebz) -o compress && ./compress
program compress
    use ebz
    use, intrinsic :: iso_fortran_env, only: int8, int16, real32, real64
    implicit none
    real(real64), parameter :: bound = 1.0e-4_real64
    real(real64) :: field(64, 48, 32), again(64, 48, 32), other(64, 48, 31)
    integer(int8), allocatable :: stream(:)
    character(:), allocatable :: message
    integer :: x, y, z, status
    integer(int16) :: halves(128), bits(64), bits_again(64)

    do z = 1, 32
        do y = 1, 48
            do x = 1, 64
                field(x, y, z) = sin(0.1_real64 * x) * cos(0.07_real64 * y) + 0.01_real64 * z
            end do
        end do
    end do

    call ebz_pack(field, EBZ_ABS, bound, stream, status, message)
    if (status /= EBZ_OK) error stop message
    call ebz_unpack(stream, again, status, message)
    if (status /= EBZ_OK) error stop message
    print '(i0, a, i0, a, es8.2)', 8 * size(field), ' bytes to ', size(stream), &
        ', largest error ', maxval(abs(field - again))
    if (maxval(abs(field - again)) > bound) error stop 'the bound is broken'

    ! The bits of a row as bfloat16: the upper halves of real32.
    halves = transfer(real(field(:, 1, 1), real32), halves)
    bits = halves(2::2)
    call ebz_pack(bits, EBZ_BF16, EBZ_LOSSLESS, 0.0_real64, stream, status, message)
    if (status /= EBZ_OK) error stop message
    call ebz_unpack(stream, bits_again, EBZ_BF16, status, message)
    if (status /= EBZ_OK) error stop message
    if (any(bits /= bits_again)) error stop 'bits changed'
    call ebz_unpack(stream, bits_again, EBZ_F16, status, message)
    if (status == EBZ_OK) error stop 'an array of the wrong type was accepted'

    ! What goes wrong is told, and stops nothing.
    call ebz_unpack(stream, other, status, message)
    if (status == EBZ_OK) error stop 'an array of the wrong shape was accepted'
    print '(a, i0, 2a)', 'wrong shape: status ', status, ', ', message
end program compress
