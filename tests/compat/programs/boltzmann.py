"""A restricted Boltzmann machine, after Theano's tutorials: Gibbs steps in a loop, and noise."""

import numpy
import theano
import theano.tensor as T
from theano.sandbox.rng_mrg import MRG_RandomStreams
from theano.tensor.shared_randomstreams import RandomStreams

numbers = numpy.random.RandomState(0)
weights = theano.shared(numbers.normal(0, 0.1, (5, 3)), "weights")
hidden_bias = theano.shared(numpy.zeros(3), "hidden_bias")
visible_bias = theano.shared(numpy.zeros(5), "visible_bias")
stream = MRG_RandomStreams(seed=12)


def drawn(mean):
    return stream.binomial(size=mean.shape, n=1, p=mean, dtype=theano.config.floatX)


def hidden_of(visible):
    return drawn(T.nnet.sigmoid(T.dot(visible, weights) + hidden_bias))


def gibbs_step(hidden):
    mean = T.nnet.sigmoid(T.dot(hidden, weights.T) + visible_bias)
    visible = drawn(mean)
    return [mean, visible, hidden_of(visible)]


def free_energy(visible):
    terms = T.nnet.softplus(T.dot(visible, weights) + hidden_bias)
    return -T.dot(visible, visible_bias) - terms.sum(axis=1)


seen = T.matrix("seen")
start = hidden_of(seen)
(means, chain, _), updates = theano.scan(gibbs_step, outputs_info=[None, None, start], n_steps=3)
end = chain[-1]
cost = T.mean(free_energy(seen)) - T.mean(free_energy(end))
parameters = [weights, hidden_bias, visible_bias]
slopes = T.grad(cost, parameters, consider_constant=[end])
for parameter, slope in zip(parameters, slopes):
    updates[parameter] = parameter - 0.1 * slope
train = theano.function([seen], [means[-1].mean(axis=0), end], updates=updates)

data = (numbers.uniform(size=(200, 5)) < [0.9, 0.9, 0.1, 0.1, 0.5]).astype(float)
for _ in range(200):
    mean, last = train(data)
print(numpy.abs(mean - data.mean(axis=0)).max() < 0.2, numpy.unique(last), last.shape)

noise = RandomStreams(seed=234)
total = noise.normal(seen.shape, std=0.5) + noise.uniform((5,), 1.0, 2.0)
noisy = theano.function([seen], total)
first, second = noisy(data), noisy(data)
print(first.shape, 1 < first.mean() < 2, (first == second).any())
