/*
 * A program for the test of the recorder:  test_record WAY.  It calls what cuGetProcAddress hands
 * out, from two threads, one after the other, and from a forked process; its last call fails, and
 * then it ends: WAY is return, _exit or kill.
 */
#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult(CUDAAPI *get_count)(int *);
static CUresult(CUDAAPI *query)(CUstream);

static void *second_thread(void *result)
{
	int count;

	*(CUresult *)result = get_count(&count);
	return NULL;
}

/* Expects the plain and the per-thread form to be two functions. */
static int look_up(void)
{
	CUdriverProcAddressQueryResult status;
	void *plain, *per_thread;

	if (cuGetProcAddress("cuStreamQuery", &plain, CUDA_VERSION, CU_GET_PROC_ADDRESS_LEGACY_STREAM,
	                     &status) != CUDA_SUCCESS ||
	    cuGetProcAddress("cuStreamQuery", &per_thread, CUDA_VERSION,
	                     CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status) != CUDA_SUCCESS ||
	    cuGetProcAddress("cuDeviceGetCount", (void **)&get_count, CUDA_VERSION, 0, &status) !=
	        CUDA_SUCCESS)
		return 1;
	query = (CUresult(CUDAAPI *)(CUstream))per_thread;
	return plain == per_thread;
}

int main(int argc, char **argv)
{
	CUresult result = CUDA_ERROR_UNKNOWN;
	pthread_t thread;
	pid_t child;
	int status;

	if (argc != 2)
		return 2;
	child = fork();
	if (child < 0 || cuInit(0) != CUDA_SUCCESS || look_up() != 0)
		return 1;
	if (child == 0)
		_exit(query(NULL) != CUDA_ERROR_INVALID_CONTEXT);
	if (waitpid(child, &status, 0) != child || status != 0)
		return 1;
	if (pthread_create(&thread, NULL, second_thread, &result) != 0 ||
	    pthread_join(thread, NULL) != 0 || result != CUDA_SUCCESS)
		return 1;
	if (query(NULL) != CUDA_ERROR_INVALID_CONTEXT)
		return 1;
	if (strcmp(argv[1], "_exit") == 0)
		_exit(0);
	if (strcmp(argv[1], "kill") == 0)
		kill(getpid(), SIGKILL);
	return 0;
}
