package dev.pipewright;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Files that know each other around a cycle: the strongly connected components of the files of a
 * program (R. Tarjan, <i>Depth-first search and linear graph algorithms</i>, SIAM J. Comput. 1,
 * 1972). That a type names its own implementations, as sealed types and factories do, does not
 * count.
 */
final class Knots {
  private final Map<String, Set<String>> uses = new TreeMap<>();
  private final Map<String, Integer> index = new HashMap<>();
  private final Map<String, Integer> low = new HashMap<>();
  private final Deque<String> open = new ArrayDeque<>();
  private final List<Set<String>> found = new ArrayList<>();

  private Knots(JavaClasses classes, Predicate<String> within) {
    for (JavaClass type : classes) {
      String from = file(type);
      if (!within.test(from)) {
        continue;
      }
      Set<String> to = uses.computeIfAbsent(from, file -> new TreeSet<>());
      for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
        JavaClass target = dependency.getTargetClass();
        if (within.test(file(target)) && !target.isAssignableTo(type.getName())) {
          to.add(file(target));
        }
      }
    }
    for (String file : uses.keySet()) {
      if (!index.containsKey(file)) {
        visit(file);
      }
    }
  }

  /** Those of more than one file, among the files whose names a rule holds for. */
  static List<Set<String>> of(JavaClasses classes, Predicate<String> within) {
    return new Knots(classes, within).found;
  }

  private static String file(JavaClass type) {
    String name = type.getName();
    int nested = name.indexOf('$');
    return nested < 0 ? name : name.substring(0, nested);
  }

  private void visit(String file) {
    int own = index.size();
    index.put(file, own);
    low.put(file, own);
    open.push(file);
    for (String next : uses.getOrDefault(file, Set.of())) {
      if (!index.containsKey(next)) {
        visit(next);
      }
      if (open.contains(next)) {
        low.merge(file, low.get(next), Math::min);
      }
    }
    if (low.get(file) == own) {
      Set<String> knot = new TreeSet<>();
      while (knot.add(open.peek()) && !open.pop().equals(file)) {}
      if (knot.size() > 1) {
        found.add(knot);
      }
    }
  }
}
