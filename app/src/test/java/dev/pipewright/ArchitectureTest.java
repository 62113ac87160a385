package dev.pipewright;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static dev.pipewright.Architecture.ALL;
import static dev.pipewright.Architecture.CORE;
import static dev.pipewright.Architecture.holds;
import static dev.pipewright.Architecture.imports;
import static dev.pipewright.Architecture.outside;
import static dev.pipewright.Architecture.strings;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.lang.ArchRule;
import dev.pipewright.parallel.Parallelism;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * Who may see whom: the modules, and what every package keeps to. Plain tests rather than
 * ArchUnit's own runner, which found none with JUnit 6.
 */
class ArchitectureTest {
  /** Classes of planners that hold, word or check what is asked and answered. */
  private static final Set<String> ANSWERS =
      Set.of(
          "OperatorGraph",
          "LayerPeaks",
          "PeakBinding",
          "PlacementCheck",
          "RecomputedStages",
          "BlockPartition",
          "OnePath");

  // ---- the modules

  @Test
  void onlyFormatsKnowJackson() {
    holds(outside("dev.pipewright.formats..", "tools.jackson..", "com.fasterxml.jackson.."));
  }

  @Test
  void onlySolversKnowTheirSolver() { // and only the command line knows them
    holds(outside("dev.pipewright.solver..", "com.google.ortools..", "org.hipparchus.."));
    holds(imports("solver", CORE));
    holds(imports("app.report", strings(Stream.concat(Stream.of(CORE), Stream.of("formats")))));
  }

  @Test
  void onlyTheCommandLineKnowsPicocli() {
    holds(outside("dev.pipewright.app.cli..", "picocli.."));
  }

  @Test
  void formatsDoNotKnowTheApp() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.pipewright.formats..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.pipewright.app.."));
  }

  @Test
  void onlyTheCommandLineUsesTheLibrary() { // and users' programs
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackages("dev.pipewright.api..", "dev.pipewright.app.cli..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("dev.pipewright.api.."));
    holds(imports("api", strings(Stream.concat(Stream.of(CORE), Stream.of("formats")))));
  }

  @Test
  void thePlanCommandAnswersThroughTheLibrary() { // so both have the same defaults
    holds(
        noClasses()
            .that()
            .haveSimpleName("StepAnswer")
            .should()
            .dependOnClassesThat()
            .haveSimpleNameContaining("PipelineOracle")
            .orShould()
            .dependOnClassesThat()
            .haveFullyQualifiedName("dev.pipewright.planner.catalog.PlannerCatalog"));
    ArchRule asked =
        classes()
            .that()
            .haveSimpleName("StepAnswer")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("dev.pipewright.api.Planners");
    asked.check(ALL);
  }

  @Test
  void nothingDependsOnBenchmarks() {
    holds(outside("dev.pipewright.bench..", "dev.pipewright.bench.."));
  }

  @Test
  void reportsRenderAndNeverSimulateOrParse() {
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.pipewright.app.report..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("dev.pipewright.sim..", "dev.pipewright.app.cli.."));
  }

  @Test
  void reportsRenderValues() { // whatever found them
    holds(
        imports(
            "app.report",
            "units",
            "schedule",
            "parallel",
            "plan",
            "trace",
            "profile",
            "cost",
            "predict",
            "planner",
            "execution",
            "compare",
            "model",
            "cluster",
            "formats"));
  }

  @Test
  void theAppKnowsWhatPlannersAnswerAndNotHow() { // the catalogue has the planners
    holds(
        noClasses()
            .that()
            .resideInAPackage("dev.pipewright.app..")
            .should()
            .dependOnClassesThat(
                resideInAPackage("dev.pipewright.planner.*..")
                    .and(not(resideInAPackage("dev.pipewright.planner.catalog..")))
                    .and(describe("work", type -> !isValue(type)))));
  }

  @Test
  void plansAreInTheirPackage() {
    holds(
        noClasses()
            .that()
            .haveSimpleNameEndingWith("Plan")
            .should()
            .resideOutsideOfPackage("dev.pipewright.plan"));
  }

  @Test
  void divisionsOfLayersAreAskedWhereTheyAreKnown() {
    holds(
        noClasses()
            .that()
            .resideOutsideOfPackages(
                "dev.pipewright.parallel",
                "dev.pipewright.plan",
                "dev.pipewright.exchange",
                "dev.pipewright.cost",
                "dev.pipewright.predict..",
                "dev.pipewright.planner..", // which divisions to try
                "dev.pipewright.runtime..",
                "dev.pipewright.formats..", // other programs' words for them
                "dev.pipewright.app.cli..", // flags
                "dev.pipewright.bench..")
            .should()
            .accessFieldWhere(
                describe(
                    "names a kind of division",
                    access -> access.getTargetOwner().isEquivalentTo(Parallelism.Kind.class))));
  }

  @Test
  void knotsOfFilesAreSmall() { // so that a file can be read without all of its neighbours
    List<Set<String>> large =
        Knots.of(ALL, ArchitectureTest::hasSmallKnots).stream()
            .filter(knot -> knot.size() > 3)
            .toList();
    assertEquals(List.of(), large);
  }

  private static boolean hasSmallKnots(String file) {
    return Stream.of("formats", "app", "execution")
        .anyMatch(name -> file.startsWith("dev.pipewright." + name + "."));
  }

  /** Records, enums and interfaces, and what is asked or answered without one. */
  private static boolean isValue(JavaClass type) {
    return type.isRecord()
        || type.isEnum()
        || type.isInterface()
        || ANSWERS.contains(type.getSimpleName());
  }

  // ---- every package

  @Test
  void packagesFormNoCycle() {
    holds(slices().matching("dev.pipewright.(*)..").should().beFreeOfCycles());
    holds(slices().matching("dev.pipewright.(**)").should().beFreeOfCycles());
  }

  @Test
  void everyPackageIsNullMarked() {
    assertEquals(List.of(), packages(p -> !p.isAnnotatedWith(NullMarked.class)));
  }

  @Test
  void everyPackageIsNamedAfterAConcept() {
    var vague =
        Set.of("util", "utils", "common", "impl", "helper", "helpers", "misc", "base", "config");
    assertEquals(List.of(), packages(p -> vague.contains(p.getRelativeName())));
  }

  private static List<String> packages(Predicate<JavaPackage> wanted) {
    return ALL.getPackage("dev.pipewright").getSubpackagesInTree().stream()
        .filter(p -> !p.getClasses().isEmpty())
        .filter(wanted)
        .map(JavaPackage::getName)
        .sorted()
        .toList();
  }
}
