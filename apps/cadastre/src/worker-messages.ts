import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type MetricsOfProcess = readonly MetricObjectWithValues<MetricValue<string>>[];

export type MessageToPrimary =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** Asks for the metrics of all processes. */
  | { readonly kind: 'scrape'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: MetricsOfProcess };

export type MessageToWorker =
  /** All workers serve requests. */
  | { readonly kind: 'serving' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'collect'; readonly id: number }
  | { readonly kind: 'scraped'; readonly id: number; readonly text: string };
