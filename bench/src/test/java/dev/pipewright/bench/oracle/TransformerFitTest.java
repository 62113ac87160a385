package dev.pipewright.bench.oracle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.pipewright.bench.oracle.PublishedSteps.Family;
import dev.pipewright.bench.reproduction.Reference;
import dev.pipewright.formats.oracle.CalibratedConstantsJson;
import dev.pipewright.formats.oracle.CalibrationRecord;
import dev.pipewright.predict.transformer.CalibratedConstants;
import dev.pipewright.solver.calibrate.ConstantsFit;
import dev.pipewright.solver.calibrate.StepErrors;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The shipped constants are those that the calibration finds. */
class TransformerFitTest {
  private static Reference reference() {
    @Nullable String folder = System.getProperty("reference.dir");
    assumeTrue(folder != null, "the system property reference.dir is not set");
    Reference reference = new Reference(Path.of(String.valueOf(folder)));
    assumeTrue(reference.present(), "no reference files in " + reference.folder());
    return reference;
  }

  @Test
  void theShippedSetHasTheNamesOfTheCatalogue() {
    PhysicalConstants constants = new PhysicalConstants();
    Set<String> names = new TreeSet<>(constants.fixed().keySet());
    constants.free().forEach(each -> names.add(each.name()));
    assertEquals(constants.free().size() + constants.fixed().size(), names.size());
    assertEquals(
        names,
        CalibratedConstantsJson.shipped().constants().stream()
            .map(CalibrationRecord.Constant::name)
            .collect(Collectors.toCollection(TreeSet::new)));
    assertTrue(constants.free().size() <= 40, "constants: " + constants.free().size());
    names.forEach(name -> assertTrue(constants.reason(name).length() > 10, name));
  }

  @Test
  void aRefitOfThePublishedStepsFindsTheShippedConstants() {
    ConstantsFit fit = TransformerFit.fit(PublishedSteps.withNotes(reference()));
    CalibratedConstants shipped = CalibratedConstantsJson.read();
    shipped
        .values()
        .forEach((name, value) -> {
          double refitted = Objects.requireNonNull(fit.constants().values().get(name), name);
          assertEquals(value, refitted, 0.02 * value, name);
        });
  }

  /** Bars of the families, in per cent: mean and median of absolute errors. */
  @ParameterizedTest
  @CsvSource({
    "MULTI_NODE, 7.5, 4.5",
    "SHARDED, 4.0, 3.0",
    "DENSE, 3.0, 2.0",
    "MIXTURE, 5.0, 4.0",
    "LARGEST, 1.0, 1.0"
  })
  void errorsOfTheShippedConstantsStayBelowTheirBars(Family family, double mean, double median) {
    PublishedSteps published = new PublishedSteps(reference());
    CalibratedConstants shipped = CalibratedConstantsJson.read();
    StepErrors errors =
        StepErrors.of(
            IntStream.of(published.of(family))
                .mapToDouble(i -> published.steps().get(i).residual(shipped))
                .toArray());
    assertTrue(100 * errors.mean() <= mean, family + " mean " + errors.mean());
    assertTrue(100 * errors.median() <= median, family + " median " + errors.median());
  }
}
