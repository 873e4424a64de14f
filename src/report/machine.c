#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/inside.h"
#include "../driver/driver.h"
#include "sources.h"

struct reprise_machine reprise_machine;

const char *reprise_version(void)
{
	return REPRISE_VERSION;
}

const char *reprise_commit(void)
{
	return REPRISE_COMMIT;
}

static void note_gpu(void)
{
	CUdevice device;

	if (reprise_driver.cuCtxGetDevice == NULL || reprise_driver.cuDeviceGetName == NULL || reprise_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
	    reprise_driver.cuDeviceGetName(reprise_machine.gpu, sizeof(reprise_machine.gpu), device) != CUDA_SUCCESS)
		reprise_machine.gpu[0] = '\0';
	reprise_machine.gpu[sizeof(reprise_machine.gpu) - 1] = '\0';
}

static void note_cuda(void)
{
	int version = 0;

	if (reprise_driver.cuDriverGetVersion != NULL && reprise_driver.cuDriverGetVersion(&version) == CUDA_SUCCESS && version > 0)
		snprintf(reprise_machine.cuda, sizeof(reprise_machine.cuda), "%d.%d", version / 1000, version % 1000 / 10);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07  Fri ..." */
static void note_driver(void)
{
	int file = open("/proc/driver/nvidia/version", O_RDONLY | O_CLOEXEC);
	char text[256] = "", *at;
	ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : 0;

	if (file >= 0)
		close(file);
	text[length > 0 ? length : 0] = '\0';
	at = strstr(text, "Module");
	if (at == NULL)
		return;
	at += strcspn(at, "0123456789\n");
	snprintf(reprise_machine.driver, sizeof(reprise_machine.driver), "%.*s", (int)strcspn(at, " \t\n"), at);
}

void reprise_machine_note(void)
{
	int entered = reprise_enter();

	note_gpu();
	note_cuda();
	note_driver();
	reprise_leave(entered);
}
