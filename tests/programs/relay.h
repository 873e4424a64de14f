/*
 * What relay and relay-driver share: two threads that launch the same chains again and again. They
 * take turns on one stream, as a program does that hands its stream from thread to thread; or, with
 * --own-streams, each has a stream to itself, and they run beside each other. Either way what is
 * printed is the same in every run.
 */
#ifndef RELAY_H
#define RELAY_H

#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RELAY_WORDS = 64, RELAY_LENGTH = 20 };

struct relay {
	unsigned iterations;
	int own_streams;
	const char *module;
	pthread_mutex_t mutex;
	pthread_cond_t passed;
	unsigned turn; /* even: the first thread's */
};

/* By the program, in either API. `me` is 0 or 1. */
static void relay_begin(struct relay *relay, unsigned me);
static void relay_launch(struct relay *relay, unsigned me, unsigned k);
static void relay_wait(struct relay *relay, unsigned me);

static void relay_parse(struct relay *relay, int argc, char **argv)
{
	static const struct option options[] = {{"iterations", required_argument, NULL, 'i'},
	                                        {"own-streams", no_argument, NULL, 'o'},
	                                        {"module", required_argument, NULL, 'm'},
	                                        {NULL, 0, NULL, 0}};
	int option;

	relay->iterations = 2000;
	relay->own_streams = 0;
	relay->module = NULL;
	relay->turn = 0;
	pthread_mutex_init(&relay->mutex, NULL);
	pthread_cond_init(&relay->passed, NULL);
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'i')
			relay->iterations = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'o')
			relay->own_streams = 1;
		else if (option == 'm')
			relay->module = optarg;
		else
			exit(2);
	}
}

static void relay_take_turn(struct relay *relay, unsigned me)
{
	pthread_mutex_lock(&relay->mutex);
	while (!relay->own_streams && relay->turn % 2 != me)
		pthread_cond_wait(&relay->passed, &relay->mutex);
	if (relay->own_streams)
		pthread_mutex_unlock(&relay->mutex);
}

static void relay_end_turn(struct relay *relay)
{
	if (relay->own_streams)
		return;
	relay->turn++;
	pthread_cond_signal(&relay->passed);
	pthread_mutex_unlock(&relay->mutex);
}

/* On one stream the second thread waits for both; each launches with arguments of its own. */
static void relay_run(struct relay *relay, unsigned me)
{
	for (unsigned iteration = 0; iteration < relay->iterations; iteration++) {
		relay_take_turn(relay, me);
		if (iteration == 0)
			relay_begin(
				relay, me); /* within the turn: which thread calls first is the same in every run */
		for (unsigned k = 0; k < RELAY_LENGTH; k++)
			relay_launch(relay, me, me * 1000 + k);
		if (relay->own_streams || me == 1)
			relay_wait(relay, me);
		relay_end_turn(relay);
	}
}

static struct relay *relay_of_threads;

static void *relay_first(void *unused)
{
	(void)unused;
	relay_run(relay_of_threads, 0);
	return NULL;
}

static void *relay_second(void *unused)
{
	(void)unused;
	relay_run(relay_of_threads, 1);
	return NULL;
}

static void relay_run_both(struct relay *relay)
{
	pthread_t threads[2];

	relay_of_threads = relay;
	if (pthread_create(&threads[0], NULL, relay_first, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, relay_second, NULL) != 0)
		abort();
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void relay_print(const struct relay *relay, const unsigned *words)
{
	unsigned long long checksum = 0;

	for (unsigned i = 0; i < 2 * RELAY_WORDS; i++)
		checksum = (checksum ^ words[i]) * 0x100000001B3ull;
	printf("streams=%d iterations=%u checksum=%016llx\n", relay->own_streams ? 2 : 1,
	       relay->iterations, checksum);
}

#endif
