package dev.pipewright;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.stream.Stream;

/** Rules for who may see whom. They allow packages that do not exist yet. */
final class Architecture {
  static final String[] CORE = {
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

  static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.pipewright");

  private Architecture() {}

  static ArchRule imports(String from, String... allowed) {
    return noClasses()
        .that()
        .resideInAnyPackage(strings(in(from)))
        .should()
        .dependOnClassesThat(
            resideInAPackage("dev.pipewright..")
                .and(not(resideInAnyPackage(strings(Stream.concat(in(from), in(allowed)))))));
  }

  /** Forbids the packages everywhere but in their owner. */
  static ArchRule outside(String owner, String... packages) {
    return noClasses()
        .that()
        .resideOutsideOfPackage(owner)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(packages);
  }

  static void holds(ArchRule rule) {
    rule.allowEmptyShould(true).check(ALL);
  }

  static Stream<String> in(String... packages) {
    return Stream.of(packages).map(p -> "dev.pipewright." + p + "..");
  }

  static String[] strings(Stream<String> strings) {
    return strings.toArray(String[]::new);
  }
}
