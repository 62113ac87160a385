package dev.pipewright.formats.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.pipewright.formats.PlanFile;
import dev.pipewright.formats.file.Refusal;
import dev.pipewright.formats.imported.PlanImports;
import dev.pipewright.plan.PipelinePlan;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A plan that is exported and imported is the same plan. */
class RoundTripTest {
  @TempDir Path folder;

  static Stream<Arguments> plans() {
    return Stream.of(
            Map.entry("megatron", SamplePlans.ofMegatron()),
            Map.entry("torchtitan", SamplePlans.ofTorchtitan()),
            Map.entry("galvatron", SamplePlans.ofGalvatron()),
            Map.entry("deepspeed", SamplePlans.ofDeepSpeed()))
        .flatMap(target ->
            target.getValue().entrySet().stream()
                .map(plan -> Arguments.of(target.getKey(), plan.getKey(), plan.getValue())));
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("plans")
  void exportedAndImportedPlansAreEqual(String target, String name, PipelinePlan plan) {
    PlanExport export = ExportCatalog.named("--to", target, SamplePlans.options(target));
    ExportedFile written = export.write(SamplePlans.exported(plan)).get(0);
    Path file = Refusal.file(folder, written.name(), written.text());
    assertTrue(PlanImports.isImport(file));
    PlanFile<?> read = PlanImports.read(file, OptionalInt.of(plan.devices()));
    assertEquals(plan, read.plan());
  }
}
