"""From a labelled sample to statements: estimate, slices, metrics, stopping, forecasts, simulation."""
