package dev.pipewright;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static dev.pipewright.Architecture.CORE;
import static dev.pipewright.Architecture.holds;
import static dev.pipewright.Architecture.imports;
import static dev.pipewright.Architecture.in;
import static dev.pipewright.Architecture.strings;

import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages of core, each with all that it may import. */
class CoreArchitectureTest {
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

  private static GivenClassesConjunction core() {
    return noClasses().that().resideInAnyPackage(strings(in(CORE)));
  }
}
