package dev.pipewright.runtime.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.pipewright.model.Chain;
import dev.pipewright.model.LayerGraph;
import dev.pipewright.parallel.Parallelism;
import dev.pipewright.runtime.tensor.Gradients;
import dev.pipewright.runtime.tensor.RandomSource;
import dev.pipewright.runtime.tensor.Scope;
import dev.pipewright.runtime.tensor.Tensor;
import dev.pipewright.runtime.transport.LocalTransport;
import dev.pipewright.runtime.transport.Transport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * A network on one worker and on several that compute each layer together, each a thread.
 *
 * @param reads the shape of what it reads
 * @param inTwoParts whether gradients of inputs and of parameters are computed apart
 * @param followed whether the gradient of what it reads is computed
 */
record Members(LayerGraph graph, long[] reads, boolean inTwoParts, boolean followed) {
  static final long SEED = 5;

  Members withoutInputGradient() {
    return new Members(graph, reads, inTwoParts, false);
  }

  /**
   * What has come out.
   *
   * @param gradients of the parameters, by name
   * @param shares of the parameters, by name
   */
  record Result(
      Tensor output,
      Tensor inputGradient,
      Map<String, Tensor> gradients,
      Map<String, Share> shares,
      Map<String, Tensor> averages) {}

  Result alone() {
    return run(TensorParallelGroup.ALONE);
  }

  List<Result> together(Parallelism split) {
    return together(split, UnaryOperator.identity());
  }

  /**
   * The results of all members.
   *
   * @param watched each worker's transport, as it is used
   */
  List<Result> together(Parallelism split, UnaryOperator<Transport> watched) {
    List<Integer> members = IntStream.range(0, split.parts()).boxed().toList();
    List<Future<Result>> futures = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(members.size())) {
      for (LocalTransport transport : LocalTransport.of(members.size())) {
        futures.add(
            threads.submit(() -> {
              try {
                return run(TensorParallelGroup.of(split, members, watched.apply(transport)));
              } catch (RuntimeException | Error e) {
                transport.fail(e);
                throw e;
              }
            }));
      }
      List<Result> results = new ArrayList<>();
      for (Future<Result> future : futures) {
        results.add(future.get());
      }
      return results;
    } catch (InterruptedException | ExecutionException e) {
      throw new AssertionError(e);
    }
  }

  private Result run(TensorParallelGroup tensorGroup) {
    Network network = new Network(Chain.of(graph), SEED, tensorGroup, false);
    Part part = network.part(0, network.size() - 1);
    Tensor input = random(11, reads);
    if (followed) {
      input.withGradient();
    }
    ForwardPass pass = ForwardPass.training(inTwoParts, SharedStatistics.OWN);
    Tensor output = part.forward(List.of(), List.of(input), pass).get(0);
    Tensor weights = random(17, part.wholeShape(reads[0]));
    if (weights.elements() > output.elements()) { // a member has its part of the tokens
      weights =
          tensorGroup.own(
              weights, TensorCut.ofTokens(tensorGroup, weights.extent(0), weights.extent(1)));
    }
    Tensor inputGradient;
    try (Scope scope = new Scope()) {
      if (inTwoParts) {
        List<Tensor> wanted = new ArrayList<>(pass.noted());
        wanted.add(input);
        List<Tensor> found = Gradients.of(List.of(output), List.of(weights), wanted, true);
        pass.addWeightGradients(found.subList(0, found.size() - 1));
        inputGradient = found.get(found.size() - 1).copy();
      } else {
        Gradients.add(List.of(output), List.of(weights));
        inputGradient = followed ? input.gradient().orElseThrow().copy() : Tensor.zeros(1);
      }
      scope.keep(inputGradient);
    }
    Map<String, Tensor> gradients = new LinkedHashMap<>();
    Map<String, Share> shares = new LinkedHashMap<>();
    for (Parameter parameter : part.parameters()) {
      gradients.put(parameter.name(), parameter.value().gradient().orElseThrow());
      shares.put(parameter.name(), parameter.share());
    }
    Map<String, Tensor> averages = new LinkedHashMap<>();
    part.averages().forEach(average -> averages.put(average.name(), average.value()));
    return new Result(output.detached(), inputGradient, gradients, shares, averages);
  }

  private static Tensor random(long seed, long... shape) {
    try (RandomSource random = new RandomSource(seed)) {
      return random.normal(1, shape);
    }
  }

  /** Checks that every member has what one worker has alone. */
  void same(Parallelism split, double tolerance) {
    Result alone = alone();
    List<Result> all = together(split);
    outputs(alone.output(), all, tolerance);
    for (Result member : all) {
      close(alone.inputGradient(), member.inputGradient(), tolerance, "gradient of the input");
      alone
          .averages()
          .forEach((name, value) ->
              close(value, member.averages().getOrDefault(name, value), tolerance, name));
      assertEquals(alone.gradients().keySet(), member.gradients().keySet());
    }
    alone
        .gradients()
        .forEach((name, gradient) -> {
          for (Tensor whole : whole(name, all)) {
            close(gradient, whole, tolerance, "gradient of " + name);
          }
        });
  }

  /** Each has the whole output, or its part of the samples or tokens. */
  private static void outputs(Tensor whole, List<Result> members, double tolerance) {
    List<Tensor> own = members.stream().map(Result::output).toList();
    if (own.stream().allMatch(output -> Arrays.equals(output.shape(), whole.shape()))) {
      own.forEach(output -> close(whole, output, tolerance, "output"));
    } else {
      int cut = own.get(0).extent(0) < whole.extent(0) ? 0 : 1;
      close(whole, Tensor.joined(own, cut), tolerance, "output");
    }
  }

  /** The whole gradient of a parameter, as each member knows it or as all know it together. */
  private static List<Tensor> whole(String name, List<Result> members) {
    List<Tensor> all = new ArrayList<>();
    members.forEach(member -> all.add(member.gradients().getOrDefault(name, Tensor.zeros(1))));
    Share share = members.get(0).shares().getOrDefault(name, new Share.Whole());
    return switch (share) {
      case Share.Whole() -> all;
      case Share.Summed() -> {
        Tensor sum = Tensor.zeros(all.get(0).shape());
        all.forEach(sum::addInPlace);
        yield List.of(sum);
      }
      case Share.Piece piece -> List.of(joined(all, piece));
    };
  }

  /** Pieces put together block by block. */
  static Tensor joined(List<Tensor> pieces, Share.Piece like) {
    List<Tensor> blocks = new ArrayList<>();
    for (int block = 0; block < like.blocks(); block++) {
      for (Tensor piece : pieces) {
        long count = piece.extent(like.axis()) / like.blocks();
        blocks.add(piece.part(like.axis(), block * count, count));
      }
    }
    return Tensor.joined(blocks, like.axis());
  }

  static void close(Tensor expected, Tensor found, double tolerance, String what) {
    assertEquals(List.of(boxed(expected.shape())), List.of(boxed(found.shape())), what);
    double scale = root(expected.times(expected));
    Tensor difference = expected.minus(found);
    assertEquals(0, root(difference.times(difference)) / Math.max(scale, 1e-3), tolerance, what);
  }

  private static double root(Tensor squares) {
    return Math.sqrt(squares.sum().item());
  }

  private static List<Long> boxed(long[] shape) {
    return Arrays.stream(shape).boxed().toList();
  }
}
