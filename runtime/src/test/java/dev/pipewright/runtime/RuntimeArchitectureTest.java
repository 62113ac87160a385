package dev.pipewright.runtime;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Who may see whom in the runtime. */
class RuntimeArchitectureTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.pipewright.runtime");

  @Test
  void onlyTensorsAndTransportsKnowTheNativeLibrary() {
    noClasses()
        .that()
        .resideOutsideOfPackages(
            "dev.pipewright.runtime.tensor..", "dev.pipewright.runtime.transport..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.bytedeco..")
        .check(ALL);
  }

  @Test
  void nobodyKnowsTheAppOrTheSolver() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("dev.pipewright.app..", "dev.pipewright.solver..", "picocli..")
        .check(ALL);
  }

  @Test
  void tensorsKnowNothingOfNetworks() {
    classes()
        .that()
        .resideInAPackage("dev.pipewright.runtime.tensor..")
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "dev.pipewright.runtime.tensor..",
            "dev.pipewright.units..",
            "org.bytedeco..",
            "org.jspecify..",
            "java..")
        .check(ALL);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("dev.pipewright.runtime.(*)..").should().beFreeOfCycles().check(ALL);
  }
}
