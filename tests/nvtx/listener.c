/*
 * A library that listens to NVTX as a profiler does, and writes down what it hears: a line for each
 * thing, in the file that NVTX_HEARD names. NVTX_LISTENER is what it is like:
 *
 *     fails         it writes its functions, and says that it does not listen
 *     deaf          it listens, and has no functions
 *     no-strings    it registers no strings
 *     calls         it calls CUDA, and NVTX, whenever it is called
 *     others        it has other functions for each object after the first
 */
#include <cuda.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client.h"

#define SHOWN __attribute__((visibility("default")))
#define STRINGS_MOST 4096
#define TEXT_MOST 512

struct text {
	char text[TEXT_MOST];
};

static struct text strings[STRINGS_MOST], domains[64];
static _Atomic unsigned int string_count, domain_count;
static _Thread_local int depth;

static bool is_like(const char *what)
{
	const char *like = getenv("NVTX_LISTENER");

	return like != NULL && strcmp(like, what) == 0;
}

/* Each line by one call, so that those of several threads do not mix. */
static void hear(const char *format, ...)
{
	char line[2 * TEXT_MOST];
	va_list arguments;
	int length, file = open(getenv("NVTX_HEARD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (file < 0 || write(file, line, (size_t)length) != length)
		abort();
	close(file);
}

/* What CUDA does not promise to a profiler, and some do. */
static void call_back(void)
{
	CUcontext context = NULL;

	if (!is_like("calls") || depth > 0)
		return;
	depth++;
	if (cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != NULL) {
		cuCtxSynchronize();
		cuStreamQuery(NULL);
	}
	nvtxRangePushA("of the listener");
	nvtxRangePop();
	depth--;
}

static const char *name_of(const void *domain)
{
	return domain != NULL ? ((const struct text *)domain)->text : "default";
}

static const char *narrow(const wchar_t *wide, char *text)
{
	snprintf(text, TEXT_MOST, "%ls", wide);
	return text;
}

static const char *message_of(const struct reprise_nvtx_event *event, char *text)
{
	switch (event->message_kind) {
	case REPRISE_NVTX_ASCII:
		return event->message.ascii;
	case REPRISE_NVTX_WIDE:
		return narrow(event->message.wide, text);
	default:
		return event->message.registered != NULL
		           ? ((const struct text *)event->message.registered)->text
		           : "nothing";
	}
}

static int push(const void *domain, const char *message, unsigned long long payload)
{
	call_back();
	hear("push\t%ld\t%s\t%s\t%llu\n", syscall(SYS_gettid), name_of(domain), message, payload);
	return 3;
}

static int pop(const void *domain)
{
	call_back();
	hear("pop\t%ld\t%s\n", syscall(SYS_gettid), name_of(domain));
	return 3;
}

static int domain_push_ex(const void *domain, const struct reprise_nvtx_event *event)
{
	char text[TEXT_MOST];

	return push(domain, message_of(event, text), event->payload);
}

static int push_ex(const struct reprise_nvtx_event *event)
{
	return domain_push_ex(NULL, event);
}

static int push_a(const char *text)
{
	return push(NULL, text, 0);
}

static int other_push_a(const char *text)
{
	hear("other\n");
	return push(NULL, text, 0);
}

static int push_w(const wchar_t *wide)
{
	char text[TEXT_MOST];

	return push(NULL, narrow(wide, text), 0);
}

static int pop_default(void)
{
	return pop(NULL);
}

static const void *register_a(const void *domain, const char *text)
{
	struct text *string = &strings[atomic_fetch_add(&string_count, 1) % STRINGS_MOST];

	snprintf(string->text, sizeof(string->text), "%s", text);
	hear("string\t%s\t%s\n", name_of(domain), text);
	return string;
}

static const void *register_w(const void *domain, const wchar_t *wide)
{
	char text[TEXT_MOST];

	return register_a(domain, narrow(wide, text));
}

static const void *create_a(const char *name)
{
	struct text *domain = &domains[atomic_fetch_add(&domain_count, 1) % 64];

	call_back();
	snprintf(domain->text, sizeof(domain->text), "%s", name);
	hear("domain\t%s\n", name);
	return domain;
}

static const void *create_w(const wchar_t *wide)
{
	char text[TEXT_MOST];

	return create_a(narrow(wide, text));
}

static void write_functions(reprise_nvtx_function **core, reprise_nvtx_function **core2)
{
	static _Atomic unsigned int objects;
	bool other = is_like("others") && atomic_fetch_add(&objects, 1) > 0;

	*core[REPRISE_NVTX_PUSH_EX] = (reprise_nvtx_function)push_ex;
	*core[REPRISE_NVTX_PUSH_A] = (reprise_nvtx_function)(other ? other_push_a : push_a);
	*core[REPRISE_NVTX_PUSH_W] = (reprise_nvtx_function)push_w;
	*core[REPRISE_NVTX_POP] = (reprise_nvtx_function)pop_default;
	*core2[REPRISE_NVTX_DOMAIN_PUSH_EX] = (reprise_nvtx_function)domain_push_ex;
	*core2[REPRISE_NVTX_DOMAIN_POP] = (reprise_nvtx_function)pop;
	*core2[REPRISE_NVTX_CREATE_A] = (reprise_nvtx_function)create_a;
	*core2[REPRISE_NVTX_CREATE_W] = (reprise_nvtx_function)create_w;
	if (is_like("no-strings"))
		return;
	*core2[REPRISE_NVTX_REGISTER_A] = (reprise_nvtx_function)register_a;
	*core2[REPRISE_NVTX_REGISTER_W] = (reprise_nvtx_function)register_w;
}

SHOWN int InitializeInjectionNvtx2(reprise_nvtx_finds find);

SHOWN int InitializeInjectionNvtx2(reprise_nvtx_finds find)
{
	const struct reprise_nvtx_callbacks *callbacks = find(REPRISE_NVTX_CALLBACKS);
	reprise_nvtx_function **core, **core2;
	unsigned int sizes[2];

	hear("object\n");
	call_back();
	if (callbacks->table_of(REPRISE_NVTX_CORE, &core, &sizes[0]) == 0 ||
	    callbacks->table_of(REPRISE_NVTX_CORE2, &core2, &sizes[1]) == 0 || sizes[0] < 12 ||
	    sizes[1] < 14)
		return 0;
	if (!is_like("deaf"))
		write_functions(core, core2);
	return !is_like("fails");
}

/* NVTX version 2, and extensions: with what they were called. */
SHOWN int InitializeInjectionNvtx(const char *argument);
SHOWN int InitializeInjectionNvtxExtension(const char *argument);

SHOWN int InitializeInjectionNvtx(const char *argument)
{
	hear("version 2\t%s\n", argument);
	return 2;
}

SHOWN int InitializeInjectionNvtxExtension(const char *argument)
{
	hear("extension\t%s\n", argument);
	return 5;
}
