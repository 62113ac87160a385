package dev.pipewright.predict.transformer.search;

import dev.pipewright.model.transformer.AttentionShape;
import dev.pipewright.model.transformer.FeedForwardShape.Dense;
import dev.pipewright.model.transformer.FeedForwardShape.Mixture;
import dev.pipewright.model.transformer.HeadPart;
import dev.pipewright.model.transformer.InputShape.Positions;
import dev.pipewright.model.transformer.InputShape.Words;
import dev.pipewright.model.transformer.LayerShape;
import dev.pipewright.model.transformer.NormShape;
import dev.pipewright.model.transformer.StackShape;
import dev.pipewright.model.transformer.TokenPrediction;
import dev.pipewright.model.transformer.TransformerShape;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.CalibratedConstants.Errors;
import dev.pipewright.predict.transformer.CalibratedConstants.LogInterval;
import dev.pipewright.predict.transformer.Framework;
import dev.pipewright.predict.transformer.GpuMachine;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.TransformerRun.Kept;
import dev.pipewright.predict.transformer.TransformerRun.Routing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;

/** Networks, machines, constants and spaces by chance, all from one seed. */
public final class RandomSpaces {
  private static final String SHARES = // from 0 to 1
      "chif chi ring eta eta.a2a xi chi.a2a delta kp window chi.dp kappa sigma offload";
  private static final String FACTORS = // about 1
      "eps.a100.half eps.a100.fp8 eps.h100.half eps.h100.fp8 phi.cudnn phi.fa2 phi.triton23 ew"
          + " ew.moe scores head cast opt bus.a100 abus.a100 fbus.a100 bus.h100 abus.h100 fbus.h100";
  private static final String SECONDS = "theta host.dropless lambda fixed";

  private final SplittableRandom random;

  public RandomSpaces(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** A number below {@code bound}. */
  long next(long bound) {
    return random.nextLong(bound);
  }

  private <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** Constants, each different from all others. */
  public CalibratedConstants constants() {
    Map<String, Double> values = new HashMap<>();
    for (String name : SHARES.split(" ", -1)) {
      values.put(name, random.nextDouble(0.05, 0.95));
    }
    for (String name : FACTORS.split(" ", -1)) {
      values.put(name, random.nextDouble(0.3, 1.5));
    }
    for (String name : SECONDS.split(" ", -1)) {
      values.put(name, Math.pow(10, random.nextDouble(-6, -2)));
    }
    LogInterval narrow = new LogInterval(-0.1, 0.2);
    return new CalibratedConstants(
        values,
        Map.of("dense", new Errors(narrow, narrow, 0.1), "moe", new Errors(narrow, narrow, 0.1)),
        Map.of());
  }

  private TransformerShape network() {
    int heads = one(List.of(4, 6, 8, 12));
    int width = one(List.of(32, 64));
    int hidden = heads * width;
    boolean gated = random.nextBoolean();
    AttentionShape attention =
        random.nextInt(4) == 0
            ? new AttentionShape.Latent(
                heads,
                random.nextBoolean() ? OptionalInt.of(96) : OptionalInt.empty(),
                64,
                width,
                16,
                width,
                false,
                true)
            : AttentionShape.GroupedQuery.plain(heads, one(List.of(2, heads)), width);
    LayerShape dense = LayerShape.of(attention, new Dense(4 * hidden, gated, false), NormShape.RMS);
    int layers = one(List.of(2, 4, 6, 8, 12));
    List<LayerShape> blocks = new ArrayList<>(StackShape.repeated(dense, layers));
    LayerShape last = dense;
    if (random.nextInt(3) == 0) {
      Dense expert = new Dense(2 * hidden, gated, false);
      Mixture mixture =
          new Mixture(
              one(List.of(4, 8, 12)),
              2,
              expert,
              false,
              random.nextBoolean() ? Optional.of(expert) : Optional.empty(),
              false);
      last = LayerShape.of(attention, mixture, NormShape.RMS);
      int first = random.nextInt(layers);
      int every = 1 + random.nextInt(2);
      for (int i = first; i < layers; i += every) {
        blocks.set(i, last);
      }
    }
    int sequence = one(List.of(128, 256, 1024));
    Positions positions =
        random.nextBoolean() ? new Positions.Rotary() : new Positions.Learned(sequence);
    return new TransformerShape(
        hidden,
        Words.of(1000 + random.nextInt(60_000), hidden, positions),
        Optional.empty(),
        new StackShape(blocks, true, Optional.of(NormShape.RMS)),
        List.of(new HeadPart.Scores(random.nextBoolean(), false)),
        random.nextInt(4) == 0 ? Optional.of(new TokenPrediction(1, last)) : Optional.empty(),
        sequence);
  }

  /** A machine on which some layouts of the network fit and others do not. */
  private GpuMachine machine(TransformerShape network, int devices) {
    double state = 18.0 * network.parameters();
    double memory = state / Math.pow(devices, random.nextDouble()) * random.nextDouble(0.4, 4);
    boolean old = random.nextBoolean();
    return new GpuMachine(
        "random",
        old ? "a100" : "h100",
        old ? GpuMachine.Family.A100 : GpuMachine.Family.H100,
        memory,
        memory * random.nextDouble(0, 0.1),
        random.nextDouble(1e13, 1e15),
        random.nextDouble(1e13, 1e15),
        random.nextDouble(1e13, 1e15),
        random.nextDouble(5e11, 5e12),
        random.nextInt(20, 150),
        random.nextDouble(2e10, 1e12),
        one(List.of(1, 4, 8, 64)),
        random.nextDouble(1e9, 1e11),
        random.nextDouble(1e9, 1e11),
        random.nextDouble(0, 0.05) * memory);
  }

  /** A space of at least one layout and at most some tens of thousands. */
  public SearchSpace space(CalibratedConstants constants) {
    SearchSpace space = any();
    while (SearchTables.of(space, constants).isEmpty()) {
      space = any();
    }
    return space;
  }

  /** Another way to route tokens and other details of memory. */
  UnaryOperator<TransformerRun> software() {
    Routing routing = new Routing(random.nextBoolean(), random.nextBoolean(), false);
    Kept kept =
        new Kept(
            random.nextBoolean(),
            random.nextBoolean(),
            one(List.of(4.0, 6.0)),
            one(List.of(2.0, 4.0)),
            random.nextBoolean());
    return run ->
        new TransformerRun(
            run.shape(),
            run.machine(),
            run.software(),
            run.layout(),
            run.split(),
            run.formats(),
            run.fusedAttention(),
            run.recompute(),
            routing,
            run.offload(),
            kept);
  }

  private SearchSpace any() {
    TransformerShape network = network();
    int devices = one(List.of(1, 2, 4, 6, 8, 12, 16, 32));
    int batch = one(List.of(1, 4, 8, 12, 24, 64));
    Framework framework = one(List.of(Framework.values()));
    GpuMachine machine = machine(network, devices);
    List<TrainingPrecision> precisions =
        machine.family() == GpuMachine.Family.A100
            ? List.of(TrainingPrecision.BF16, TrainingPrecision.FP16)
            : List.of(TrainingPrecision.BF16, TrainingPrecision.FP8);
    boolean fused = random.nextInt(4) > 0;
    return new SearchSpace(
        network,
        machine,
        framework,
        one(precisions),
        fused,
        one(List.of(0.0, 0.3, 1.0)),
        one(List.of(OptionalInt.empty(), OptionalInt.of(2), OptionalInt.of(4))),
        devices,
        batch,
        SearchValues.all(network, devices, batch, fused));
  }
}
