package dev.pipewright.app.cli;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlannerNamesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --planner dappel | --planner: unknown 'dappel'; did you mean "dapple"?
          --levels 4 | --levels: the planner auto does not support it; leave it out, or take --planner pipedream
          --planner pipedream --levels 4 | --levels: says nothing without --bandwidths; add it, like 25e9,1e9
          --planner pipedream --bandwidths 1e9 | --bandwidths: says nothing without --levels; add it, like 4,4
          --planner pipedream | no cluster given; add --cluster, or --levels and --bandwidths like 4,4 and 25e9,1e9
          --planner pipedream --schedule 1f1b | --schedule: the planner pipedream does not support it; leave it out
          --planner pipedream --cluster dapple-a --levels 4 --bandwidths 1 | --levels: names a cluster as --cluster does
          """)
  void flagsThatContradictThePlannerAreRefused(String flags, String sentence) {
    Cli.run(("plan bert-48 " + flags).split(" ", -1)).refusal(2, sentence);
  }
}
