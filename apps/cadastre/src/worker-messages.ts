import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type MetricsOfProcess = readonly MetricObjectWithValues<MetricValue<string>>[];

export type MessageToPrimary =
  /** The worker serves requests. */
  | { readonly kind: 'ready' }
  /** Requests the metrics of all processes. */
  | { readonly kind: 'scrape' }
  | { readonly kind: 'metrics'; readonly metrics: MetricsOfProcess };

export type MessageToWorker =
  /** Requests the metrics of this worker. */
  { readonly kind: 'collect' } | { readonly kind: 'scraped'; readonly text: string };
