import type { MetricObjectWithValues, MetricValue } from 'prom-client';

export type MetricsOfProcess = readonly MetricObjectWithValues<MetricValue<string>>[];

export type MessageToPrimary =
  /** The worker serves requests. */
  | { readonly kind: 'ready' }
  /** Requests the metrics of all processes. */
  | { readonly kind: 'scrape' }
  | { readonly kind: 'metrics'; readonly metrics: MetricsOfProcess };

export type MessageToWorker =
  /**
   * The keys of the site in base64. This is the first message. A worker that replaces another one therefore needs no
   * service that unwraps keys, and no key is in the environment of a process.
   */
  | { readonly kind: 'keys'; readonly current: string; readonly previous: string | null }
  /** Requests the metrics of this worker. */
  | { readonly kind: 'collect' }
  | { readonly kind: 'scraped'; readonly text: string };
