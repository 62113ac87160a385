package dev.pipewright.app.report.study;

import dev.pipewright.app.report.text.Figure;
import dev.pipewright.app.report.text.Numbers;
import dev.pipewright.app.report.text.Words;
import dev.pipewright.plan.Recompute;
import dev.pipewright.predict.paradl.Prediction.Impossible;
import dev.pipewright.predict.paradl.Prediction.Predicted;
import dev.pipewright.predict.paradl.Strategy;
import dev.pipewright.predict.paradl.Study;
import dev.pipewright.predict.paradl.Study.Crossover;
import dev.pipewright.units.Units;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How reports word what a study found. */
public final class StudyWords {
  private StudyWords() {}

  /** {@code 45 %}, {@code <1 %} or {@code 20×}: a share that may be far from one. */
  static String share(double share) {
    if (share >= 2) {
      return Numbers.times(share);
    }
    return share > 0 && share < 0.01 ? "<1 %" : Math.round(100 * share) + " %";
  }

  static String impossible(Impossible impossible) {
    return impossible.strategy()
        + " on "
        + Words.count(impossible.devices(), "device")
        + " is impossible: "
        + impossible.why();
  }

  /** The choice on the most devices on which something fits. */
  static Optional<Predicted> choice(Study study) {
    for (int devices : study.devices().stream().sorted((a, b) -> b - a).toList()) {
      Optional<Predicted> choice = study.choice(devices);
      if (choice.isPresent()) {
        return choice;
      }
    }
    return Optional.empty();
  }

  /** Whether it is the choice on as many devices. */
  static boolean isBest(Study study, Predicted predicted) {
    return study.choice(predicted.devices()).stream()
        .anyMatch(choice -> choice.strategy() == predicted.strategy());
  }

  /** What the strategies of a study leave out, and a planner does not. */
  public static String notConsidered(Study study) {
    List<Predicted> all =
        study.predictions().stream()
            .filter(Predicted.class::isInstance)
            .map(Predicted.class::cast)
            .toList();
    if (all.stream().anyMatch(p -> p.layout().recompute() != Recompute.NONE)) {
      return "states sharded within a pipeline, and replicas of single stages";
    }
    return all.stream().anyMatch(p -> p.strategy() == Strategy.DATA_TENSOR_PIPELINE)
        ? "recomputation (--recompute auto), and replicas of single stages"
        : "recomputation, accumulation over micro-batches, and tensor parallelism within a pipeline";
  }

  /** The answer in a sentence. */
  static String answer(Study study) {
    Optional<Predicted> choice = choice(study);
    if (choice.isEmpty()) {
      return "None of the strategies asked for fits the devices’ memory. Not considered: "
          + notConsidered(study)
          + '.';
    }
    Predicted best = choice.get();
    int most = mostDevices(study);
    String none =
        most > best.devices()
            ? "None of these strategies fits on " + Words.count(most, "device") + ". "
            : "";
    Predicted recommended = study.recommended().orElse(best);
    if (recommended.devices() < best.devices()) {
      return none
          + "Choose one device, which trains %s samples/s: on %s the best, %s, trains %s."
              .formatted(
                  Numbers.rate(recommended.samplesPerSecond()),
                  Words.count(best.devices(), "device"),
                  best.strategy(),
                  Numbers.rate(best.samplesPerSecond()));
    }
    return none + "On " + Words.count(best.devices(), "device") + " choose " + figures(best) + '.';
  }

  private static String figures(Predicted best) {
    String memory =
        Figure.isLimited(best.capacity())
            ? share(best.memory().total() / best.capacity()) + " of the memory"
            : Numbers.bytes(best.memory().total());
    return best.strategy()
        + ": "
        + Numbers.rate(best.samplesPerSecond())
        + " samples/s, "
        + Units.seconds(best.iterationSeconds())
        + " per iteration of "
        + Words.count(best.globalBatch(), "sample")
        + ", "
        + memory;
  }

  static int mostDevices(Study study) {
    return study.devices().stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  /** A sentence for each change of the choice, or one that says there is none. */
  static List<String> crossovers(Study study) {
    List<String> sentences = new ArrayList<>();
    if (study.devices().size() == 1) {
      return sentences; // the answer says it
    }
    for (Crossover crossover : study.crossovers()) {
      sentences.add(sentence(crossover));
    }
    if (sentences.isEmpty() && choice(study).isPresent() && study.devices().size() > 1) {
      String choice = choice(study).get().strategy().label();
      sentences.add("The choice is " + choice + " wherever something fits.");
    }
    return sentences;
  }

  private static String sentence(Crossover crossover) {
    String choose =
        "From " + Words.count(crossover.devices(), "device") + " on choose " + crossover.after();
    if (crossover.before().isEmpty()) {
      return choose + ".";
    }
    return crossover.gain() > 1
        ? "%s: %s the samples per second of %s there."
            .formatted(choose, Numbers.times(crossover.gain()), crossover.before().get())
        : "%s: %s is no choice any more.".formatted(choose, crossover.before().get());
  }

  /** {@code 1–2, 128–1024}: runs of some of the device counts that were {@code asked}. */
  static String counts(List<Integer> some, List<Integer> asked) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < asked.size(); i++) {
      int first = i;
      while (i < asked.size() && some.contains(asked.get(i))) {
        i++;
      }
      if (i > first) {
        text.append(text.isEmpty() ? "" : ", ");
        text.append(Words.range(asked.get(first), asked.get(i - 1)));
      }
    }
    return text.toString();
  }

  /** {@code half as much}, {@code 4×}: a machine's resource against what it is. */
  static String factor(double factor) {
    return factor == 0.5 ? "half as much" : factor == 2 ? "twice as much" : Numbers.times(factor);
  }
}
