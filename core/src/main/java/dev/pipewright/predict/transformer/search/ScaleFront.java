package dev.pipewright.predict.transformer.search;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Layouts over several numbers of devices that no other excels: every other takes longer, needs
 * more memory, or more devices.
 */
public final class ScaleFront {
  private ScaleFront() {}

  /**
   * The front of all surveys, of the fewest devices first and the fastest of them first. Of layouts
   * that take and need the same, the one on fewer devices is kept.
   *
   * @param surveys each with its front, in any order
   */
  public static List<RankedLayout> of(List<LayoutSurvey> surveys) {
    List<LayoutSurvey> rising = new ArrayList<>(surveys);
    rising.sort(Comparator.comparingInt(survey -> survey.space().devices()));
    List<RankedLayout> found = new ArrayList<>();
    for (LayoutSurvey survey : rising) {
      List<RankedLayout> fewer = List.copyOf(found);
      for (RankedLayout here : survey.front()) {
        if (fewer.stream().noneMatch(that -> excels(that, here))) {
          found.add(here);
        }
      }
    }
    return found;
  }

  /** Whether a layout on fewer devices is as good in all else. */
  private static boolean excels(RankedLayout that, RankedLayout here) {
    return that.seconds() <= here.seconds() && that.bytes() <= here.bytes();
  }
}
