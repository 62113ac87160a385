package dev.pipewright;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;
import dev.pipewright.parallel.Parallelism;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * Who may see whom. Plain tests rather than ArchUnit's own runner, which found none with JUnit 6.
 * Rules allow packages that do not exist yet.
 */
class ArchitectureTest {
  private static final String[] CORE = {
    "units",
    "model",
    "zoo",
    "cluster",
    "schedule",
    "parallel",
    "plan",
    "exchange",
    "profile",
    "trace",
    "cost",
    "predict",
    "sim",
    "planner",
    "execution",
    "compare"
  };

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

  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.pipewright");

  // ---- the packages of core, each with all that it may import

  @Test
  void unitsImportNothing() {
    holds(imports("units"));
  }

  @Test
  void schedulesImportUnits() {
    holds(imports("schedule", "units"));
  }

  @Test
  void modelsImportUnitsAndNeverClusters() {
    holds(imports("model", "units"));
  }

  @Test
  void clustersImportUnitsAndNeverModels() {
    holds(imports("cluster", "units"));
  }

  @Test
  void theZooImportsModelsAndClusters() { // it holds both
    holds(imports("zoo", "units", "model", "cluster"));
  }

  @Test
  void tracesImportValues() {
    holds(imports("trace", "units", "model", "cluster", "schedule"));
  }

  @Test
  void sharesOfLayersImportModels() {
    holds(imports("parallel", "units", "model"));
  }

  @Test
  void plansImportValuesAndSharesOfLayers() {
    holds(imports("plan", "units", "model", "cluster", "schedule", "parallel"));
  }

  @Test
  void exchangesFollowFromPlans() {
    holds(imports("exchange", "units", "model", "schedule", "parallel", "plan"));
  }

  @Test
  void profilesImportValues() {
    holds(imports("profile", "units", "model", "cluster", "schedule"));
  }

  @Test
  void costsImportValuesAndTheSimulator() {
    holds(
        imports(
            "cost",
            "units",
            "model",
            "cluster",
            "schedule",
            "zoo",
            "parallel",
            "plan",
            "exchange",
            "profile",
            "trace",
            "sim"));
  }

  @Test
  void comparisonsOfStrategiesImportCosts() {
    holds(
        imports(
            "predict.paradl",
            "units",
            "model",
            "cluster",
            "schedule",
            "zoo",
            "parallel",
            "plan",
            "exchange",
            "profile",
            "cost"));
  }

  @Test
  void predictionsOfTransformersImportTheirShapes() {
    holds(imports("predict.transformer", "units", "model"));
  }

  @Test
  void predictionsOfSchedulesImportTheSimulator() {
    holds(imports("predict.pipeline", "units", "schedule", "trace", "sim", "predict.transformer"));
  }

  @Test
  void predictionsOfRunsImportCostsAndRequests() {
    holds(
        imports(
            "predict.run",
            "units",
            "model",
            "cluster",
            "schedule",
            "parallel",
            "plan",
            "exchange",
            "profile",
            "cost",
            "sim",
            "execution"));
  }

  @Test
  void theSimulatorImportsValues() {
    holds(imports("sim", "units", "model", "cluster", "schedule", "plan", "profile", "trace"));
  }

  @Test
  void plannersImportCostsAndWhatCostsSee() { // a simulated cost arrives as an oracle
    holds(
        imports(
            "planner",
            "units",
            "model",
            "cluster",
            "schedule",
            "zoo",
            "parallel",
            "plan",
            "exchange",
            "profile",
            "cost"));
  }

  // ---- the modules

  @Test
  void runningForRealImportsValues() { // a measured run has the form of a simulated one
    holds(
        imports(
            "execution",
            "units",
            "model",
            "cluster",
            "schedule",
            "profile",
            "plan",
            "trace",
            "sim"));
  }

  @Test
  void comparisonsImportWhatIsCompared() {
    holds(
        imports(
            "compare", "units", "schedule", "parallel", "plan", "sim", "predict.run", "execution"));
  }

  @Test
  void coreSeesTheLanguageAndCollectionsOnly() { // no files, sockets, threads, clocks or logging
    var allowed =
        Stream.concat(
            in(CORE),
            Stream.of(
                "java.lang",
                "java.lang.annotation",
                "java.lang.invoke",
                "java.lang.runtime",
                "java.math",
                "java.util",
                "java.util.function",
                "java.util.random",
                "java.util.regex",
                "java.util.stream",
                "org.jspecify.annotations"));
    holds(core().should().dependOnClassesThat(not(resideInAnyPackage(strings(allowed)))));
    holds(
        core()
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(Thread.class, Process.class, ProcessBuilder.class, Runtime.class));
  }

  @Test
  void coreGivesTheSameOutputForTheSameInput() {
    holds(
        core()
            .should()
            .callMethodWhere(
                target(owner(type(System.class)))
                    .and(not(target(name("arraycopy"))))
                    .and(not(target(name("identityHashCode"))))));
    holds(core().should().callMethod(Math.class, "random"));
    holds(core().should().callConstructor(Random.class));
    holds(core().should().callConstructor(SplittableRandom.class));
  }

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

  private static GivenClassesConjunction core() {
    return noClasses().that().resideInAnyPackage(strings(in(CORE)));
  }

  private static ArchRule imports(String from, String... allowed) {
    return noClasses()
        .that()
        .resideInAnyPackage(strings(in(from)))
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.pipewright..")
                .and(not(resideInAnyPackage(strings(Stream.concat(in(from), in(allowed)))))));
  }

  /** Forbids the packages everywhere but in their owner. */
  private static ArchRule outside(String owner, String... packages) {
    return noClasses()
        .that()
        .resideOutsideOfPackage(owner)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(packages);
  }

  private static void holds(ArchRule rule) {
    rule.allowEmptyShould(true).check(ALL);
  }

  private static List<String> packages(Predicate<JavaPackage> wanted) {
    return ALL.getPackage("dev.pipewright").getSubpackagesInTree().stream()
        .filter(p -> !p.getClasses().isEmpty())
        .filter(wanted)
        .map(JavaPackage::getName)
        .sorted()
        .toList();
  }

  private static Stream<String> in(String... packages) {
    return Stream.of(packages).map(p -> "dev.pipewright." + p + "..");
  }

  private static String[] strings(Stream<String> strings) {
    return strings.toArray(String[]::new);
  }
}
