! Ranks write one array to one file, and sum compressed values, by the C functions of ebz_mpi.h.
!
!   mpif90 mpi.f90 -L target/mpi/release -lebz_mpi_preload -o mpi
!   mpirun -n 4 ./mpi field.ebz
module ebz_mpi
  use iso_c_binding
  implicit none
  type, bind(C) :: ebz_mpi_array
    type(c_ptr) :: values
    integer(c_int) :: size, axes
    type(c_ptr) :: shape
  end type
  type, bind(C) :: ebz_mpi_options
    type(c_ptr) :: bound
    real(c_double) :: value
    type(c_ptr) :: codec
    type(c_ptr) :: chunk = c_null_ptr
    integer(c_int) :: mode = 0
  end type
  interface
    ! A communicator of Fortran as one of C.
    type(c_ptr) function comm_of(comm) bind(C, name="MPI_Comm_f2c")
      import
      integer(c_int), value :: comm
    end function
    integer(c_int) function ebz_mpi_write(comm, path, shape, start, block, options, report) bind(C)
      import
      type(c_ptr), value :: comm, report
      character(c_char), intent(in) :: path(*)
      integer(c_size_t), intent(in) :: shape(*), start(*)
      type(ebz_mpi_array), intent(in) :: block
      type(ebz_mpi_options), intent(in) :: options
    end function
    integer(c_int) function ebz_mpi_allreduce(comm, array, options, report) bind(C)
      import
      type(c_ptr), value :: comm, report
      type(ebz_mpi_array), intent(in) :: array
      type(ebz_mpi_options), intent(in) :: options
    end function
  end interface
end module

program main
  use ebz_mpi
  use mpi
  implicit none
  integer, parameter :: n = 100000
  real(c_double), parameter :: bound = 1d-4
  character(kind=c_char), target :: kind(4) = ['a', 'b', 's', c_null_char], codec(3) = ['f', 'z', c_null_char]
  real(c_double), target :: values(n)
  integer(c_size_t), target :: own(1) = [n]
  type(ebz_mpi_array) :: array
  type(ebz_mpi_options) :: options
  character(len=500) :: path
  integer :: rank, ranks, error, i
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  call get_command_argument(1, path)
  values = [(sin(0.001d0 * i) + rank, i=1, n)]
  array = ebz_mpi_array(c_loc(values), 8, 1, c_loc(own))
  options%bound = c_loc(kind)
  options%value = bound
  options%codec = c_loc(codec)
  if (ebz_mpi_write(comm_of(MPI_COMM_WORLD), trim(path)//c_null_char, [int(n, c_size_t) * ranks], &
                    [int(n, c_size_t) * rank], array, options, c_null_ptr) /= 0) error stop 'write'
  if (ebz_mpi_allreduce(comm_of(MPI_COMM_WORLD), array, options, c_null_ptr) /= 0) error stop 'allreduce'
  do i = 1, n
    if (abs(values(i) - ranks * sin(0.001d0 * i) - ranks * (ranks - 1) / 2) > ranks * bound) error stop 'sum'
  end do
  if (rank == 0) print *, 'written and summed on', ranks, 'ranks'
  call mpi_finalize(error)
end program
