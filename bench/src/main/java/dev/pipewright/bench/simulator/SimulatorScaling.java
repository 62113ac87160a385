package dev.pipewright.bench.simulator;

import dev.pipewright.bench.plot.Axis;
import dev.pipewright.bench.plot.Figure;
import dev.pipewright.bench.plot.Lines;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.bench.reproduction.Timing;
import dev.pipewright.sim.Conditions.Transfers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** What both simulators take, by ranks and by micro-batches, and the heap they need. */
public final class SimulatorScaling implements Reproduction {
  private static final int REPETITIONS = 5;
  private static final double WARM_UP_SECONDS = 1;
  private static final int RANKS = 64;
  private static final int MICRO_BATCHES = 512;
  private static final double[] BY_RANKS = {4, 16, 64, 256, 1024, 4096};
  private static final double[] BY_MICRO_BATCHES = {16, 64, 256, 1024, 4096};
  private static final String HEAP = "2g";

  /** One way to simulate a pipeline. */
  private record Simulator(String name, boolean byEvent, Consumer<Pipeline> run) {
    long counted(Pipeline pipeline) {
      return byEvent ? pipeline.events() : pipeline.ops();
    }
  }

  private static final List<Simulator> SIMULATORS =
      List.of(
          new Simulator("static", false, Pipeline::plain),
          new Simulator("static, queued transfers", false, Pipeline::queued),
          new Simulator("by event", true, pipeline -> pipeline.events(Transfers.DELAYED)),
          new Simulator("by event, ports shared by two", true, Pipeline::ports),
          new Simulator("by event, ports shared by eight", true, Pipeline::crowded));

  @Override
  public String name() {
    return "simulator-scaling";
  }

  @Override
  public String summary() {
    return "Simulated passes and events per second by size.";
  }

  @Override
  public Report run(Reference reference) {
    Markdown table =
        new Markdown(
            "simulator",
            "ranks",
            "micro-batches",
            "counted",
            "seconds",
            "processor, s",
            "10⁶ per second of processor");
    SIMULATORS.forEach(SimulatorScaling::warm);
    List<Pipeline> byRanks =
        Arrays.stream(BY_RANKS).mapToObj(p -> new Pipeline((int) p, MICRO_BATCHES)).toList();
    List<Pipeline> byMicroBatches =
        Arrays.stream(BY_MICRO_BATCHES).mapToObj(m -> new Pipeline(RANKS, (int) m)).toList();
    Figure figure = new Figure("Both simulators, one forward one backward", 1060, 2);
    panels(
        figure, table, "By ranks, " + MICRO_BATCHES + " micro-batches", "ranks", BY_RANKS, byRanks);
    panels(
        figure,
        table,
        "By micro-batches, " + RANKS + " ranks",
        "micro-batches",
        BY_MICRO_BATCHES,
        byMicroBatches);
    return new Report("Seconds, operations per second and heap of both simulators")
        .paragraph(
            ("`Reproduce %s`, computed %s. One forward one backward on stages that differ, passes and transfers of"
                    + " 1 to 2 seconds; over shared links a message alone takes 0.01 s in a node and 0.1 s between"
                    + " nodes of eight ranks. Counted: passes for the static simulator, events for the other: the"
                    + " end of a pass, the departure of a message and its landing, so three times as many;"
                    + " landings put off because a rate has changed are not counted. Ports shared by two: neighbours in"
                    + " a node, whose port carries activations to the next node and gradients to the one before. Ports shared by eight: ranks dealt"
                    + " out to the nodes in turn, so that every message leaves its node. With more ranks than micro-batches most ranks are idle at any"
                    + " time and few messages under way. Median of %d repetitions on"
                    + " one warm thread, processor time of that thread without that of the garbage collector's.")
                .formatted(name(), LocalDate.now(ZoneOffset.UTC), REPETITIONS))
        .table(table)
        .heading("Heap at 4,096 ranks × 512 micro-batches")
        .paragraph(
            ("Each in a fresh process with `-Xmx%s`. Most used: the sum over the heap's pools of the most that each"
                    + " ever held, garbage included. Left: what the schedule and the result hold after a"
                    + " collection.")
                .formatted(HEAP))
        .table(heap())
        .figure(figure);
  }

  private static void warm(Simulator simulator) {
    Pipeline pipeline = new Pipeline(RANKS, MICRO_BATCHES);
    Timing.warm(() -> simulator.run().accept(pipeline), 3, WARM_UP_SECONDS);
  }

  private static void panels(
      Figure figure,
      Markdown table,
      String title,
      String label,
      double[] sizes,
      List<Pipeline> pipelines) {
    Lines seconds = panel(title, label, sizes, "seconds of processor time");
    Lines rates = panel(title, label, sizes, "passes or events per second");
    for (Simulator simulator : SIMULATORS) {
      double[] time = new double[sizes.length];
      double[] rate = new double[sizes.length];
      for (int i = 0; i < sizes.length; i++) {
        Pipeline pipeline = pipelines.get(i);
        simulator.run().accept(pipeline);
        Timing timing = Timing.of(() -> simulator.run().accept(pipeline), REPETITIONS);
        long counted = simulator.counted(pipeline);
        time[i] = timing.cpu();
        rate[i] = counted / timing.cpu();
        table.row(
            simulator.name(),
            pipeline.ranks(),
            pipeline.microBatches(),
            counted,
            Numbers.seconds(timing.wall()),
            Numbers.seconds(timing.cpu()),
            Numbers.significant(rate[i] / 1e6));
      }
      seconds.add(simulator.name(), sizes, time);
      rates.add(simulator.name(), sizes, rate);
    }
    figure.add(seconds).add(rates);
  }

  private static Lines panel(String title, String label, double[] marks, String unit) {
    return new Lines(title, Axis.logarithmic(label).marked(marks), Axis.logarithmic(unit), 340);
  }

  private static Markdown heap() {
    Markdown table = new Markdown("what", "most used, MB", "left, MB", "wall, s");
    for (String what : SimulatorHeap.WHAT) {
      List<String> command =
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx" + HEAP,
              "-cp",
              System.getProperty("java.class.path"),
              SimulatorHeap.class.getName(),
              "4096",
              "512",
              what);
      List<Object> row = new ArrayList<>(List.of(what));
      row.addAll(List.of(output(command).split(" ", -1)));
      table.row(row.toArray());
    }
    return table;
  }

  /** The words that a process prints, – for each where it fails. */
  private static String output(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      String line = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? line.strip() : "– – –";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "– – –";
    }
  }
}
