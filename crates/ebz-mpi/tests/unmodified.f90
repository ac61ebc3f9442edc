! A program without any knowledge of compression: gathers, sums and writes. The bound is in BOUND; argument: a
! file to write.
program unmodified
  use mpi
  implicit none
  integer, parameter :: n = 100000
  integer :: rank, ranks, error, i, r, count
  integer :: file
  integer :: status(MPI_STATUS_SIZE)
  integer(MPI_OFFSET_KIND) :: offset
  double precision :: own(n), total(n), bound, exact
  double precision, allocatable :: all(:)
  character(len=32) :: text
  character(len=500) :: path
  logical :: changed
  call get_environment_variable('BOUND', text)
  read (text, *) bound
  call get_command_argument(1, path)
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  allocate (all(n * ranks))
  do i = 1, n
    own(i) = f(rank, i)
  end do
  call mpi_gather(own, n, MPI_DOUBLE_PRECISION, all, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  changed = .false.
  if (rank == 0) then
    do r = 0, ranks - 1
      do i = 1, n
        if (abs(all(r * n + i) - f(r, i)) > bound) call fail('gather')
        changed = changed .or. all(r * n + i) /= f(r, i)
      end do
    end do
    if (changed .neqv. bound > 0) call fail('nothing was compressed, or too much')
  end if
  total = own
  call mpi_allreduce(MPI_IN_PLACE, total, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  do i = 1, n
    exact = 0
    do r = 0, ranks - 1
      exact = exact + f(r, i)
    end do
    if (abs(total(i) - exact) > ranks * (bound + 1d-12)) call fail('allreduce')
  end do
  call mpi_file_open(MPI_COMM_WORLD, path, ior(MPI_MODE_CREATE, MPI_MODE_WRONLY), MPI_INFO_NULL, file, error)
  if (error /= MPI_SUCCESS) call fail('open')
  offset = 8_MPI_OFFSET_KIND * n * rank
  call mpi_file_write_at_all(file, offset, own, n, MPI_DOUBLE_PRECISION, status, error)
  call mpi_get_count(status, MPI_DOUBLE_PRECISION, count, error)
  if (count /= n) call fail('write_at_all')
  call mpi_file_seek(file, 8_MPI_OFFSET_KIND * n * (ranks + rank), MPI_SEEK_SET, error)
  call mpi_file_write(file, own, n, MPI_DOUBLE_PRECISION, MPI_STATUS_IGNORE, error)
  call mpi_file_close(file, error)
  call mpi_finalize(error)
contains
  double precision function f(rank, i)
    integer, intent(in) :: rank, i
    f = sin(0.01d0 * i + rank) + 1d-3 * sin(17d0 * i)
  end function
  subroutine fail(what)
    character(len=*), intent(in) :: what
    print *, what
    call mpi_abort(MPI_COMM_WORLD, 1, error)
  end subroutine
end program
