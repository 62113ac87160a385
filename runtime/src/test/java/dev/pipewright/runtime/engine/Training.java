package dev.pipewright.runtime.engine;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.runtime.data.Batch;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Objective;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.LocalTransport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Trains with a thread for each worker.
 *
 * @param objective what is made small
 */
record Training(LayerGraph graph, Objective objective, Rule rule, Feed feed, long bucketBytes) {
  /**
   * What came out.
   *
   * @param losses of each step
   * @param parameters by name; those of several workers are checked to be the same
   */
  record Result(double[] losses, Map<String, float[]> parameters) {}

  Result run(Assignment assignment, int steps) {
    List<LocalTransport> transports = LocalTransport.of(assignment.size());
    try (ExecutorService threads = Executors.newFixedThreadPool(assignment.size())) {
      List<Future<Result>> workers = new ArrayList<>();
      for (LocalTransport transport : transports) {
        workers.add(threads.submit(() -> work(assignment, transport, steps)));
      }
      double[] losses = new double[steps];
      Map<String, float[]> parameters = new TreeMap<>();
      for (Future<Result> worker : workers) {
        Result own = worker.get();
        for (int step = 0; step < steps; step++) {
          losses[step] += own.losses()[step];
        }
        own.parameters()
            .forEach((name, values) -> {
              float[] other = parameters.putIfAbsent(name, values);
              if (other != null && !Arrays.equals(other, values)) {
                throw new AssertionError("two workers disagree on " + name);
              }
            });
      }
      return new Result(losses, parameters);
    } catch (ExecutionException e) {
      throw new AssertionError("a worker failed", e.getCause());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Result work(Assignment assignment, LocalTransport transport, int steps) {
    try (Worker worker = worker(assignment, transport)) {
      double[] losses = new double[steps];
      for (int step = 0; step < steps; step++) {
        losses[step] = worker.step(step).loss();
      }
      Map<String, float[]> parameters = new TreeMap<>();
      for (Parameter parameter : worker.parameters()) {
        parameters.put(parameter.name(), parameter.value().toFloats());
      }
      return new Result(losses, parameters);
    } catch (RuntimeException | Error e) {
      transport.fail(e);
      throw e;
    }
  }

  private Worker worker(Assignment assignment, LocalTransport transport) {
    Network network = new Network(Chain.of(graph), 7);
    return new Worker(
        assignment, network, objective, rule, feed, transport, bucketBytes, Witness.NONE);
  }

  /** The largest difference of two results, as a share of the largest number of its tensor. */
  static double difference(Result a, Result b) {
    if (!a.parameters().keySet().equals(b.parameters().keySet())) {
      throw new AssertionError(a.parameters().keySet() + " are not " + b.parameters().keySet());
    }
    double worst = 0;
    for (Map.Entry<String, float[]> entry : a.parameters().entrySet()) {
      float[] other = b.parameters().getOrDefault(entry.getKey(), new float[0]);
      double largest = 0;
      double apart = 0;
      for (int i = 0; i < other.length; i++) {
        largest = Math.max(largest, Math.abs(other[i]));
        double difference = Math.abs(other[i] - entry.getValue()[i]);
        apart = difference <= apart ? apart : difference; // NaN gets through
      }
      worst = Math.max(worst, apart / Math.max(largest, 1e-30));
    }
    return worst;
  }

  /** Random inputs of this shape and random classes, from the numbers of step and sample. */
  static Feed randomClasses(int classes, long... shape) {
    return (step, samples) -> {
      int elements = 1;
      for (long extent : shape) {
        elements *= (int) extent;
      }
      float[] values = new float[samples.count() * elements];
      long[] wanted = new long[samples.count()];
      for (int i = 0; i < samples.count(); i++) {
        var random = new SplittableRandom(step * 1_000_003 + samples.first() + i);
        for (int k = 0; k < elements; k++) {
          values[i * elements + k] = (float) (random.nextDouble() * 2 - 1);
        }
        wanted[i] = random.nextInt(classes);
      }
      long[] full = new long[shape.length + 1];
      full[0] = samples.count();
      System.arraycopy(shape, 0, full, 1, shape.length);
      return new Batch(List.of(Tensor.of(values, full)), Tensor.ofWhole(wanted, samples.count()));
    };
  }
}
