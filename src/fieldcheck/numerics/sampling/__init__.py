"""Drawing: uniform, in proportion to size, stratified, pivotal; sizes and schedules of waves."""
