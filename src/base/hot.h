/*
 * What a steady loop passes through at every op. A program that does much between two calls, as
 * Python does, has its own code and data in the caches by then: each line and each page of ours is
 * fetched anew, which takes longer than all that is done with it. So these functions stand side by
 * side, and so do the few words that all of them read and nobody writes while the loop goes on.
 */
#pragma once

#define REPRISE_HOT __attribute__((hot))
#define REPRISE_HOT_DATA __attribute__((section("reprise_hot")))
