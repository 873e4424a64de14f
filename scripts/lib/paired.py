"""What pairs of measurements tell: how many times one side is the other, and how surely. As src/cli/paired.h, which says why."""
import math
import statistics

OUTSIDE = 0.05    # the probability that the true ratio is outside the interval


def outside(count):
    """How many of the least and of the greatest of the means of two pairs are outside the interval; 0 if there are too few pairs."""
    chances = [1.0] + [0.0] * (count * (count + 1) // 2)    # of the sum of those ranks whose sign is positive
    for rank in range(1, count + 1):
        for at in range(len(chances) - 1, -1, -1):
            chances[at] = (chances[at] + (chances[at - rank] if at >= rank else 0)) / 2
    cut, chance = 0, chances[0]
    while 2 * chance <= OUTSIDE:
        cut += 1
        chance += chances[cut]
    return cut


def ratio(over, under):
    """The estimate, and the ends of its interval of 95 %: None if there are too few pairs."""
    logs = [math.log(a / b) for a, b in zip(over, under)]
    means = sorted((logs[i] + logs[j]) / 2 for i in range(len(logs)) for j in range(i, len(logs)))
    cut = outside(len(logs))
    return math.exp(statistics.median(means)), (math.exp(means[cut - 1]), math.exp(means[-cut])) if cut else None
