package dev.pipewright.bench.oracle;

import dev.pipewright.api.Oracles;
import dev.pipewright.api.Planned;
import dev.pipewright.api.Planners;
import dev.pipewright.api.Problem;
import dev.pipewright.bench.oracle.PublishedSteps.Family;
import dev.pipewright.bench.reproduction.Markdown;
import dev.pipewright.bench.reproduction.Numbers;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.bench.reproduction.Report;
import dev.pipewright.bench.reproduction.Reproduction;
import dev.pipewright.cost.Workload;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.plan.PipelinePlan;
import dev.pipewright.planner.reasons.PlanComparison;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.predict.transformer.MeasuredStep;
import dev.pipewright.predict.transformer.NumberFormats.Products;
import dev.pipewright.predict.transformer.TrainingLayout;
import dev.pipewright.predict.transformer.TrainingPrecision;
import dev.pipewright.predict.transformer.TransformerOracle;
import dev.pipewright.predict.transformer.TransformerRun;
import dev.pipewright.predict.transformer.search.LayoutSearch;
import dev.pipewright.predict.transformer.search.SearchSpace;
import dev.pipewright.predict.transformer.search.SearchValues;
import dev.pipewright.units.Units;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Layouts that the authors of published runs chose by hand, and those that Pipewright finds for the
 * same network, devices and batch: by searching layouts, and by planning.
 */
public final class HandMadeLayouts implements Reproduction {
  /** Steps are no longer than others up to this share: the order of sums differs. */
  private static final double ROUNDING = 1e-9;

  private static final String NODES = "a100-80g-8x1600g";

  /** Runs that can be written as a plan, with their arguments of Megatron-LM. */
  private static final List<PlannedRun> PLANNED =
      List.of(
          new PlannedRun("megatron-22b", 1, 4, 1, 1, 4),
          new PlannedRun("gpt3-175b", 8, 64, 8, 3, 1),
          new PlannedRun("turing-530b", 35, 280, 35, 3, 1),
          new PlannedRun("megatron-1t", 64, 512, 64, 1, 1));

  private record PlannedRun(
      String network, int nodes, int batch, int pipeline, int chunks, int microBatch) {
    String arguments() {
      return "--tensor-model-parallel-size 8 --sequence-parallel --pipeline-model-parallel-size "
          + pipeline
          + (chunks > 1 ? " --num-virtual-stages-per-pipeline-rank " + chunks : "")
          + " --micro-batch-size "
          + microBatch;
    }
  }

  @Override
  public String name() {
    return "hand-made-layouts";
  }

  @Override
  public String summary() {
    return "Published layouts of transformers against those that a search finds.";
  }

  @Override
  public List<String> needs() {
    return List.of("measured");
  }

  @Override
  public Report run(Reference reference) {
    CalibratedConstants constants = CalibratedConstantsJson.read();
    List<Row> rows = new ArrayList<>();
    List<MeasuredStep> published = new ArrayList<>(fastest(new PublishedSteps(reference)));
    published.addAll(UnseenSteps.read());
    for (MeasuredStep step : published) {
      rows.add(
          new Row(step, TransformerOracle.seconds(step.run(), constants), found(step, constants)));
    }
    long worse = rows.stream().filter(Row::isWorse).count();
    return new Report("Layouts by hand and by search")
        .paragraph(
            ("`Reproduce hand-made-layouts`, computed %s: %d published layouts, the fastest measured one"
                    + " of each network, machine, number of devices, batch and precision, and what"
                    + " the search of `predict --search` finds for the same. The search assumes the"
                    + " software of the published run, its routing of tokens included, and both layouts"
                    + " are predicted with it; gain is the share of the published layout's predicted step"
                    + " that the search saves. The published layout is faster in %d rows."
                    + " An asterisk marks published layouts that do not fit by prediction, so that the search leaves"
                    + " them out. The search holds gradients in the format of the published run"
                    + " (`--gradients`). Rows named `bridge` are recipes of Megatron-Bridge for networks to"
                    + " which no constant was fitted.")
                .formatted(LocalDate.now(ZoneOffset.UTC), rows.size(), worse))
        .table(table(rows))
        .heading("As plans")
        .paragraph(
            "`plan` for the four largest published Megatron runs, against the authors' layout with"
                + " sequence parallelism and attention recomputed, both priced by the same oracle with"
                + " fused attention (`--against` with the arguments).")
        .table(planned());
  }

  /** Of equal problems the one that was measured to be fastest. */
  private static Collection<MeasuredStep> fastest(PublishedSteps published) {
    Map<List<Object>, MeasuredStep> fastest = new LinkedHashMap<>();
    for (Family family : List.of(Family.LARGEST, Family.DENSE, Family.MIXTURE)) {
      for (int index : published.of(family)) {
        MeasuredStep step = published.steps().get(index);
        TransformerRun run = step.run();
        List<Object> problem =
            List.of(
                step.group(),
                run.layout().devices(),
                run.layout().globalBatch(),
                run.shape().sequence(),
                run.formats().products());
        fastest.merge(problem, step, (a, b) -> a.seconds() <= b.seconds() ? a : b);
      }
    }
    return fastest.values();
  }

  /** The best layout of a search with the software, formats and memory of the published run. */
  static Optional<TransformerRun> found(MeasuredStep step, CalibratedConstants constants) {
    TransformerRun run = step.run();
    int devices = run.layout().devices();
    int batch = run.layout().globalBatch();
    SearchSpace space =
        new SearchSpace(
            run.shape(),
            run.machine(),
            run.software().framework(),
            precision(run),
            run.fusedAttention(),
            run.offload().optimizer(),
            run.formats().state().gradient() == 2 ? OptionalInt.of(2) : OptionalInt.empty(),
            devices,
            batch,
            SearchValues.all(run.shape(), devices, batch, run.fusedAttention()));
    return LayoutSearch.of(space, constants, found -> like(run, found)).best().best().stream()
        .findFirst()
        .map(best -> like(run, space.choices(best.searched()).run()));
  }

  private static TransformerRun like(TransformerRun run, TransformerRun found) {
    return new TransformerRun(
        found.shape(),
        found.machine(),
        run.software(),
        found.layout(),
        found.split(),
        run.formats(),
        run.fusedAttention(),
        found.recompute(),
        run.routing(),
        found.offload(),
        run.kept());
  }

  private static TrainingPrecision precision(TransformerRun run) {
    Products products = run.formats().products();
    return products == Products.HALF
        ? TrainingPrecision.BF16
        : TrainingPrecision.valueOf(products.name());
  }

  private record Row(MeasuredStep step, double predicted, Optional<TransformerRun> found) {
    double foundSeconds() {
      CalibratedConstants constants = CalibratedConstantsJson.read();
      return found.map(run -> TransformerOracle.seconds(run, constants)).orElse(Double.NaN);
    }

    /** Whether the published layout fits by prediction. */
    boolean fits() {
      return TransformerOracle.predict(step.run(), CalibratedConstantsJson.read()).fits();
    }

    boolean isWorse() {
      return !(foundSeconds() <= predicted * (1 + ROUNDING));
    }
  }

  private static Markdown table(List<Row> rows) {
    Markdown table =
        new Markdown(
            "run",
            "network and machine",
            "devices",
            "batch",
            "by hand",
            "measured",
            "predicted",
            "by search",
            "predicted",
            "gain");
    for (Row row : rows) {
      TransformerRun run = row.step().run();
      table.row(
          row.step().id(),
          row.step().group(),
          run.layout().devices(),
          run.layout().globalBatch(),
          words(run),
          Units.seconds(row.step().seconds()),
          Units.seconds(row.predicted()),
          row.found().map(HandMadeLayouts::words).orElse("none fits"),
          Units.seconds(row.foundSeconds()),
          Numbers.percent(1 - row.foundSeconds() / row.predicted()) + (row.fits() ? "" : " *"));
    }
    return table;
  }

  /** {@code t8 p8 v3, micro-batch 1, ZeRO 1, full recomputation}. */
  private static String words(TransformerRun run) {
    TrainingLayout layout = run.layout();
    StringBuilder words = new StringBuilder("t" + layout.tensor());
    degree(words, " c", layout.context());
    degree(words, " e", layout.expert());
    degree(words, " p", layout.pipeline());
    degree(words, " v", layout.interleave());
    degree(words, " d", layout.data());
    words.append(", micro-batch ").append(layout.microBatch());
    if (layout.zero() > 0) {
      words.append(", ZeRO ").append(layout.zero());
    }
    String recompute = run.recompute().word();
    return words + (recompute.equals("none") ? "" : ", " + recompute);
  }

  private static void degree(StringBuilder words, String letter, int degree) {
    words.append(degree > 1 ? letter + degree : "");
  }

  private static Markdown planned() {
    Markdown table =
        new Markdown("network", "devices", "batch", "by hand", "`plan`", "its plan", "gain");
    for (PlannedRun run : PLANNED) {
      Problem problem = Problem.of(run.network(), NODES + ":" + run.nodes() + "x8", run.batch());
      Planned found = Planners.plan(problem);
      Workload workload = found.costed().workload();
      PipelinePlan theirs =
          PlanImports.ofArguments(
              run.network(),
              run.arguments(),
              workload.chain().graph(),
              run.batch(),
              workload.cluster().size());
      PlanComparison against = found.against("by hand", Oracles.evaluate(problem, theirs));
      table.row(
          run.network(),
          workload.cluster().size(),
          run.batch(),
          Units.seconds(against.other().seconds())
              + (against.misfit().isPresent() ? ", does not fit" : ""),
          Units.seconds(against.chosenSeconds()),
          found.plan().kind()
              + ", "
              + found.plan().stages().size()
              + " stages, "
              + found.plan().spec().scheduleName(),
          Numbers.percent(1 - 1 / (1 + against.gap())));
    }
    return table;
  }
}
