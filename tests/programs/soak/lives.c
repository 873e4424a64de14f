/* Modules, contexts and streams that come and go while others work. */
#include "soak.h"

#include <semaphore.h>
#include <string.h>

enum {
	CONTEXTS_MOST = 2
}; /* at a time, beside the primary one: each takes hundreds of MB of a GPU */

static struct {
	pthread_once_t once;
	sem_t left;
} contexts = {.once = PTHREAD_ONCE_INIT};

void soak_module_load(struct soak_module *module)
{
	size_t bytes;

	CHECK(cuModuleLoad(&module->module, soak.path));
	CHECK(cuModuleGetFunction(&module->mix, module->module, "mix"));
	CHECK(cuModuleGetFunction(&module->turn, module->module, "turn"));
	CHECK(cuModuleGetGlobal(&module->pages, &bytes, module->module, "pages"));
}

static void do_stream(struct soak_thread *thread)
{
	struct soak_stream *stream = &thread->own[SOAK_OWN - 1];

	soak_repeat(stream, &soak.module, &thread->random, 10 + soak_random(&thread->random, 60));
	soak_check(stream);
	soak_stream_renew(stream, soak_random(&thread->random, 4) > 0 ? CU_STREAM_NON_BLOCKING
	                                                              : CU_STREAM_DEFAULT);
}

/* Its kernels read its variable, too. */
static void do_module(struct soak_thread *thread)
{
	struct soak_stream *stream = &thread->own[SOAK_OWN - 1];
	unsigned words[SOAK_WORDS];
	struct soak_module module;

	soak_module_load(&module);
	for (unsigned i = 0; i < SOAK_WORDS; i++)
		words[i] = soak_random(&thread->random, 1u << 30);
	/* In the stream's order: cuMemcpyHtoD may return before pageable memory has arrived, and a
	 * non-blocking stream does not wait for it. */
	CHECK(cuMemcpyHtoDAsync(module.pages, words, SOAK_BYTES, stream->stream));
	for (unsigned k = 0; k < 60 && !soak_hurries(); k++) {
		for (unsigned i = 0; i < 6; i++)
			soak_launch(stream, i % 2 ? module.turn : module.mix, i % 2, module.pages, words, i);
		if (k % 4 == 0)
			soak_wait(stream, &thread->random);
	}
	soak_repeat(stream, &module, &thread->random, 30);
	soak_check(stream);
	CHECK(cuModuleUnload(module.module));
	atomic_fetch_add(&soak.modules, 1);
}

static void make_room(void)
{
	sem_init(&contexts.left, 0, CONTEXTS_MOST);
}

/* Now and then it ends with all that is in it. Memory that is pinned in it ends with it, too. */
static void do_context(struct soak_thread *thread)
{
	struct soak_stream stream;
	struct soak_module module;
	CUcontext context;

	pthread_once(&contexts.once, make_room);
	if (sem_trywait(&contexts.left) != 0)
		return;
	CHECK(cuCtxCreate(&context, NULL, 0, soak.device));
	soak_module_load(&module);
	soak_stream_init(&stream, CU_STREAM_NON_BLOCKING);
	soak_repeat(&stream, &module, &thread->random, 50 + soak_random(&thread->random, 150));
	soak_check(&stream);
	if (soak_random(&thread->random, 2)) {
		soak_stream_deinit(&stream);
		CHECK(cuModuleUnload(module.module));
	}
	CHECK(cuCtxDestroy(context));
	CHECK(cuCtxSetCurrent(soak.context));
	sem_post(&contexts.left);
	atomic_fetch_add(&soak.contexts, 1);
}

void soak_do_life(struct soak_thread *thread)
{
	switch (soak_random(&thread->random, 8)) {
	case 0:
		do_context(thread);
		break;
	case 1:
	case 2:
		do_module(thread);
		break;
	default:
		do_stream(thread);
	}
}
