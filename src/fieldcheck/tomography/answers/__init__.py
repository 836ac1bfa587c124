"""From a run to answers: queries over regions, weak spots, independence, profiles."""
