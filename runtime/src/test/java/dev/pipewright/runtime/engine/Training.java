package dev.pipewright.runtime.engine;

import dev.pipewright.execution.UpdateRule;
import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.plan.Assignment;
import dev.pipewright.plan.SampleRange;
import dev.pipewright.plan.ZeroStage;
import dev.pipewright.runtime.data.Dataset;
import dev.pipewright.runtime.data.DatasetRequirements;
import dev.pipewright.runtime.data.DatasetSpec;
import dev.pipewright.runtime.data.HostValues;
import dev.pipewright.runtime.net.LossFunction;
import dev.pipewright.runtime.net.Network;
import dev.pipewright.runtime.net.Parameter;
import dev.pipewright.runtime.net.Share;
import dev.pipewright.runtime.net.TensorParallelGroup;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.Transport;
import dev.pipewright.schedule.Schedule;
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
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Trains with a thread for each worker.
 *
 * @param objective what is made small
 */
record Training(
    LayerGraph graph, LossFunction objective, UpdateRule rule, Feed feed, long bucketBytes) {
  /** Of the parameters' first values. */
  static final long SEED = 7;

  /** With samples that are made for a network, so many in each step, none of them twice. */
  static Training synthetic(LayerGraph graph, UpdateRule rule, int batch, long bucketBytes) {
    LossFunction objective = LossFunction.of(graph);
    Dataset samples =
        DatasetSpec.parse("synthetic").open(DatasetRequirements.of(graph, objective)).training();
    Feed feed =
        Feed.of(
            samples,
            (step, range) ->
                LongStream.range(0, range.count())
                    .map(i -> step * batch + range.first() + i)
                    .toArray());
    return new Training(graph, objective, rule, feed, bucketBytes);
  }

  /**
   * What came out.
   *
   * @param losses of each step
   * @param parameters by name; those of several workers are checked to be the same, and pieces are
   *     put together
   */
  record Result(double[] losses, Map<String, float[]> parameters) {}

  /** What a worker has of a parameter. */
  private record Held(Share share, Tensor value) {}

  private record Own(double[] losses, Map<String, Held> parameters) {}

  /** All parameters, each as a whole. */
  private static Map<String, float[]> whole(List<Own> workers) {
    Map<String, Tensor> whole = new TreeMap<>();
    for (Own worker : workers) {
      worker
          .parameters()
          .forEach((name, held) -> {
            long[] shape = held.share().wholeShape(held.value().shape());
            held.share().put(held.value(), whole.computeIfAbsent(name, key -> Tensor.zeros(shape)));
          });
    }
    for (Own worker : workers) {
      worker
          .parameters()
          .forEach((name, held) -> {
            Tensor again = held.value().copy();
            held.share().take(again, whole.getOrDefault(name, again));
            if (!again.sameAs(held.value())) {
              throw new AssertionError("two workers disagree on " + name);
            }
          });
    }
    Map<String, float[]> values = new TreeMap<>();
    whole.forEach((name, value) -> values.put(name, value.toFloats()));
    return values;
  }

  /** The same with other samples. */
  Training with(Feed other) {
    return new Training(graph, objective, rule, other, bucketBytes);
  }

  Result run(Assignment assignment, int steps) {
    return run(assignment, steps, UnaryOperator.identity(), new Look() {});
  }

  /** Looks at each worker, on its thread. */
  interface Look {
    default void begins(int worker, Worker trainingWorker) {}

    default void stepped(int worker, StepReport report) {}

    default void ended(Worker trainingWorker) {}
  }

  /**
   * The same.
   *
   * @param seen what each worker has in place of its transport
   */
  Result run(Assignment assignment, int steps, UnaryOperator<Transport> seen, Look look) {
    List<LocalTransport> transports = LocalTransport.of(assignment.size());
    try (ExecutorService threads = Executors.newFixedThreadPool(assignment.size())) {
      List<Future<Own>> workers = new ArrayList<>();
      for (LocalTransport transport : transports) {
        workers.add(threads.submit(() -> work(assignment, transport, steps, seen, look)));
      }
      double[] losses = new double[steps];
      List<Own> all = new ArrayList<>();
      for (Future<Own> worker : workers) {
        Own own = worker.get();
        for (int step = 0; step < steps; step++) {
          losses[step] += own.losses()[step];
        }
        all.add(own);
      }
      return new Result(losses, whole(all));
    } catch (ExecutionException e) {
      throw new AssertionError("a worker failed", e.getCause());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private Own work(
      Assignment assignment,
      LocalTransport transport,
      int steps,
      UnaryOperator<Transport> seen,
      Look look) {
    try (Worker worker = worker(assignment, seen.apply(transport))) {
      look.begins(transport.worker(), worker);
      worker.begin(0, steps);
      double[] losses = new double[steps];
      for (int step = 0; step < steps; step++) {
        StepReport report = worker.step(step);
        losses[step] = report.loss();
        look.stepped(transport.worker(), report);
      }
      look.ended(worker);
      return new Own(losses, parameters(worker, assignment));
    } catch (RuntimeException | Error e) {
      transport.fail(e);
      throw e;
    }
  }

  /** What a worker has learnt; where workers have parts of it, all put them together. */
  private static Map<String, Held> parameters(Worker worker, Assignment assignment) {
    Map<String, Tensor> whole = new TreeMap<>();
    if (assignment.inOnePlace() || assignment.sharding() != ZeroStage.NOTHING) {
      worker.stages().forEach(stage -> whole.putAll(worker.wholeState(stage)));
    }
    Map<String, Held> parameters = new TreeMap<>();
    for (Parameter parameter : worker.parameters()) {
      Tensor found = whole.get(parameter.name());
      if (assignment.inOnePlace() && found == null) {
        continue; // somebody else has it
      }
      Share share = found == null ? parameter.share() : new Share.Whole();
      Tensor value = (found == null ? parameter.value() : found).detached().copy();
      parameters.put(parameter.name(), new Held(share, value));
    }
    return parameters;
  }

  private Worker worker(Assignment assignment, Transport transport) {
    int worker = transport.worker();
    Parallelism split = assignment.split(assignment.rankOf(worker));
    TensorParallelGroup tensorGroup =
        TensorParallelGroup.of(split, assignment.tensorGroup(worker), transport);
    Network network = new Network(Chain.of(graph), SEED, tensorGroup, assignment.dividesAlike());
    boolean shared = assignment.asyncPipeline().isPresent() || all(assignment);
    return new Worker(
        assignment,
        network,
        objective,
        rule,
        feed,
        transport,
        bucketBytes,
        shared,
        OpListener.NONE);
  }

  /**
   * Whether all workers of a rank have samples of each micro-batch, so that they share averages.
   */
  private static boolean all(Assignment assignment) {
    Schedule schedule = assignment.schedule();
    int smallest = assignment.batch() / (schedule.microBatches() * schedule.placement().chains());
    return IntStream.range(0, schedule.ranks())
        .allMatch(rank -> assignment.replicas(rank) <= smallest);
  }

  /** The largest difference of a layer's parameters, as a share of their length as a vector. */
  static double difference(Result a, Result b) {
    if (!a.parameters().keySet().equals(b.parameters().keySet())) {
      throw new AssertionError(a.parameters().keySet() + " are not " + b.parameters().keySet());
    }
    Map<String, double[]> squares = new TreeMap<>(); // by layer: of the differences, of the values
    a.parameters()
        .forEach((name, values) -> {
          float[] others = b.parameters().getOrDefault(name, new float[0]);
          String layer = name.substring(0, name.lastIndexOf('.'));
          double[] sums = squares.computeIfAbsent(layer, key -> new double[2]);
          for (int i = 0; i < values.length; i++) {
            double apart = values[i] - (double) others[i];
            sums[0] += apart * apart;
            sums[1] += (double) values[i] * values[i];
          }
        });
    double worst = 0;
    for (double[] sums : squares.values()) {
      double share = Math.sqrt(sums[0] / sums[1]);
      worst = share <= worst ? worst : share; // NaN gets through
    }
    return worst;
  }

  /** Random inputs of this shape and random classes, from the numbers of step and sample. */
  static Feed randomClasses(int classes, long... shape) {
    int elements = Math.toIntExact(Arrays.stream(shape).reduce(1, (a, b) -> a * b));
    return new Feed() {
      @Override
      public List<HostValues> inputs(long step, SampleRange samples) {
        float[] values = new float[samples.count() * elements];
        for (int i = 0; i < values.length; ) {
          SplittableRandom random = random(step, samples.first() + i / elements);
          for (int k = 0; k < elements; k++) {
            values[i++] = (float) (random.nextDouble() * 2 - 1);
          }
        }
        long[] full = new long[shape.length + 1];
        full[0] = samples.count();
        System.arraycopy(shape, 0, full, 1, shape.length);
        return List.of(new HostValues.Floating(values, full));
      }

      @Override
      public HostValues target(long step, SampleRange samples) {
        long[] wanted = new long[samples.count()];
        for (int i = 0; i < wanted.length; i++) {
          SplittableRandom random = random(step, samples.first() + i);
          for (int k = 0; k < elements; k++) {
            random.nextDouble();
          }
          wanted[i] = random.nextInt(classes);
        }
        return new HostValues.Whole(wanted, wanted.length);
      }
    };
  }

  private static SplittableRandom random(long step, int sample) {
    return new SplittableRandom(step * 1_000_003 + sample);
  }
}
