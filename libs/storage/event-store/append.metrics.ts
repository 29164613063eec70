import { Histogram } from 'prom-client';

export const appendMetrics = {
  perGroup: new Histogram({
    name: 'cadastre_appends_per_group',
    help: 'Appends that were committed in one transaction',
    buckets: [1, 2, 4, 8, 16, 32],
  }),
};
