package dev.pipewright.planner.madpipe;

import dev.pipewright.plan.LayerRange;
import dev.pipewright.plan.PatternPlan;
import dev.pipewright.plan.Recompute;
import dev.pipewright.planner.recompute.TradeOffs.Choice;
import dev.pipewright.schedule.periodic.Discipline;
import dev.pipewright.schedule.periodic.Pattern;
import dev.pipewright.schedule.periodic.StageLoad;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Stages on devices and the pattern in which they run.
 *
 * @param discipline how batches follow each other
 * @param stages along the chain; neighbours are on different devices
 * @param pattern whose stages are these and, between them, the transfers: 2S − 1 in all
 */
public record PlacedPattern(Discipline discipline, List<Placed> stages, Pattern pattern) {
  /**
   * Layers {@code first..end-1} on a device.
   *
   * @param fewer which of them run again, and what that means for the stage; empty where none do
   */
  public record Placed(int first, int end, int device, Optional<Choice> fewer) {
    /** All is kept. */
    public Placed(int first, int end, int device) {
      this(first, end, device, Optional.empty());
    }

    /** Which of them run again. */
    public List<LayerRange> again() {
      return fewer.map(Choice::again).orElse(List.of());
    }

    /** What it gives up after the forward pass. */
    public Recompute recompute() {
      return stage().recompute();
    }

    /** Without its prices. */
    public PatternPlan.Stage stage() {
      return new PatternPlan.Stage(first, end, device, again());
    }

    /** Where layers are runs of others. */
    Placed inLayers(int[] ends) {
      return new Placed(ends[first], ends[end], device, fewer.map(choice -> choice.inLayers(ends)));
    }
  }

  public PlacedPattern {
    stages = List.copyOf(stages);
  }

  /**
   * A plan with what a problem says that its stages take; throws where a stage is none of its
   * network.
   */
  public static PlacedPattern of(PatternPlan plan, PeriodicProblem problem) {
    List<Placed> placed =
        plan.stages().stream().map(stage -> placed(problem.chain(), stage)).toList();
    return new PlacedPattern(
        plan.discipline(), placed, plan.pattern(loads(problem.chain(), placed)));
  }

  /** In positions of the problem's chain. */
  private static Placed placed(LayerChain chain, PatternPlan.Stage stage) {
    int first = position(chain, stage.first(), "a stage begins or ends");
    int end = position(chain, stage.end(), "a stage begins or ends");
    List<LayerRange> again = new ArrayList<>();
    for (LayerRange run : stage.again()) {
      int from = position(chain, run.first(), "a run of layers that run again begins or ends");
      int to = position(chain, run.last() + 1, "a run of layers that run again begins or ends");
      again.add(new LayerRange(from, to - 1));
    }
    Optional<Choice> fewer =
        again.isEmpty() ? Optional.empty() : Optional.of(chain.given(first, end, again));
    return new Placed(first, end, stage.device(), fewer);
  }

  private static int position(LayerChain chain, int layer, String what) {
    for (int position = 0; position <= chain.layers(); position++) {
      if (chain.inNetwork(position) == layer) {
        return position;
      }
    }
    throw new IllegalArgumentException(
        "%s at %d, where branches run side by side or there is no layer; begin it elsewhere"
            .formatted(what, layer));
  }

  /**
   * The decision alone.
   *
   * @param microBatch samples of a mini-batch
   */
  public PatternPlan plan(int microBatch) {
    return new PatternPlan(
        discipline,
        microBatch,
        pattern.period(),
        pattern.batches(),
        stages.stream().map(Placed::stage).toList(),
        pattern.ops());
  }

  /** Seconds per batch: T/k. */
  public double secondsPerBatch() {
    return pattern.normalisedPeriod();
  }

  /** Whether every device has one stage. */
  public boolean contiguous() {
    return stages.stream().mapToInt(Placed::device).distinct().count() == stages.size();
  }

  /** The batches that each stage holds, or makes room for. */
  public int[] held() {
    int[] held = new int[stages.size()];
    int[] all = pattern.concurrentActivations();
    for (int stage = 0; stage < held.length; stage++) {
      boolean reserved = discipline instanceof Discipline.OneForwardOneBackward;
      held[stage] = reserved ? stages.size() - stage : all[2 * stage];
    }
    return held;
  }

  /** What stages hold on each device that there is, working space not included. */
  public double[] bytes(int devices) {
    double[] bytes = new double[devices];
    int[] held = held();
    for (int stage = 0; stage < held.length; stage++) {
      StageLoad load = pattern.stages().get(2 * stage);
      bytes[stages.get(stage).device()] += load.stateBytes() + held[stage] * load.activationBytes();
    }
    return bytes;
  }

  /** Seconds that each device computes per batch. */
  public double[] busySeconds(int devices) {
    double[] busy = new double[devices];
    for (int stage = 0; stage < stages.size(); stage++) {
      busy[stages.get(stage).device()] += pattern.stages().get(2 * stage).seconds();
    }
    return busy;
  }

  /** The part of a period for which a device computes nothing, on average over all devices. */
  public double idleShare(int devices) {
    return Math.max(0, 1 - Arrays.stream(busySeconds(devices)).sum() / devices / secondsPerBatch());
  }

  /** The same plan in positions of the network's chain. */
  public PlacedPattern inNetwork(LayerChain chain) {
    int[] places = new int[chain.layers() + 1];
    Arrays.setAll(places, chain::inNetwork);
    return inLayers(places);
  }

  /** The same plan where its layers are runs of others. */
  PlacedPattern inLayers(int[] ends) {
    List<Placed> fine = new ArrayList<>();
    for (Placed placed : stages) {
      fine.add(placed.inLayers(ends));
    }
    return new PlacedPattern(discipline, fine, pattern);
  }

  /** The stages' costs with the transfers between them. */
  static List<StageLoad> loads(LayerChain chain, List<Placed> stages) {
    List<StageLoad> loads = new ArrayList<>();
    double[] cuts = new double[stages.size() - 1];
    for (int stage = 0; stage < stages.size(); stage++) {
      Placed placed = stages.get(stage);
      loads.add(load(chain, placed));
      if (stage > 0) {
        cuts[stage - 1] = chain.transferSeconds(placed.first());
      }
    }
    return StageLoad.withTransfers(loads, cuts);
  }

  static StageLoad load(LayerChain chain, Placed placed) {
    return placed
        .fewer()
        .map(fewer -> chain.stage(placed.first(), placed.end(), fewer))
        .orElseGet(() -> chain.stage(placed.first(), placed.end()));
  }

  /** The stages by device, as {@code 0: 0–4 9–12, 1: 5–8}: first and last layers. */
  @Override
  public String toString() {
    int devices = stages.stream().mapToInt(Placed::device).max().orElse(0) + 1;
    String[] texts = new String[devices];
    Arrays.fill(texts, "");
    for (Placed placed : stages) {
      texts[placed.device()] += " " + placed.first() + "–" + (placed.end() - 1);
    }
    List<String> words = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      if (!texts[device].isEmpty()) {
        words.add(device + ":" + texts[device]);
      }
    }
    return String.join(", ", words);
  }
}
