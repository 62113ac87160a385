package dev.pipewright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.pipewright.execution.CheckpointService;
import dev.pipewright.execution.JoiningService;
import dev.pipewright.execution.ProfilingService;
import dev.pipewright.execution.TrainingService;
import dev.pipewright.planner.catalog.PlannerProvider;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every main type of core and solver serves a command or the library. */
class ReachabilityTest {
  /** What only benchmarks and tests of several modules call; the list may only get shorter. */
  private static final Set<String> EXCEPTIONS =
      Set.of(
          "dev.pipewright.planner.pipedream.PipeDream2bwRepoPlanner",
          "dev.pipewright.planner.placement.TrainingGraph",
          "dev.pipewright.schedule.Diagram",
          "dev.pipewright.schedule.periodic.BestPattern");

  /** What the runtime alone calls, which is not on the class path of these tests. */
  private static final Set<String> OF_RUNTIME =
      Set.of("dev.pipewright.planner.memory.ProfilingPartitions");

  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.pipewright");

  private static boolean isRoot(JavaClass type) {
    boolean service =
        Stream.of(
                CheckpointService.class,
                JoiningService.class,
                ProfilingService.class,
                TrainingService.class,
                PlannerProvider.class)
            .anyMatch(type::isAssignableTo);
    return service
        || type.getPackageName().equals("dev.pipewright.api")
        || type.getPackageName().startsWith("dev.pipewright.app");
  }

  private static Set<JavaClass> reached() {
    Deque<JavaClass> open =
        new ArrayDeque<>(ALL.stream().filter(ReachabilityTest::isRoot).toList());
    Set<JavaClass> reached = new HashSet<>(open);
    while (!open.isEmpty()) {
      for (Dependency dependency : open.pop().getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass().getBaseComponentType();
        if (target.getPackageName().startsWith("dev.pipewright") && reached.add(target)) {
          open.add(target);
        }
      }
    }
    return reached;
  }

  @Test
  void everyTypeServesACommandOrTheLibrary() {
    Set<String> names = new HashSet<>();
    reached().forEach(type -> names.add(outermost(type)));
    assertTrue(names.size() > 500, "too few types are reached: " + names.size());
    Set<String> unused = new TreeSet<>();
    for (JavaClass type : ALL) {
      boolean concerned =
          !List.of("api", "app", "bench", "runtime", "formats").contains(module(type))
              && !type.getSimpleName().equals("package-info");
      if (concerned && !names.contains(outermost(type))) {
        unused.add(outermost(type));
      }
    }
    unused.removeAll(OF_RUNTIME);
    assertEquals(new TreeSet<>(EXCEPTIONS), unused);
  }

  private static String module(JavaClass type) {
    return type.getPackageName().split("\\.", -1)[2];
  }

  private static String outermost(JavaClass type) {
    return type.getName().replaceAll("\\$.*", "");
  }
}
