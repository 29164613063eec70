/** Samplers that OpenTelemetry defines for `OTEL_TRACES_SAMPLER`. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type TracingOptions = {
  /** Complete address of the OTLP receiver for traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: (typeof SAMPLERS)[number];
  /** From 0 to 1, for samplers by trace id. */
  readonly samplingRatio: number;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  /** Milliseconds between two exports. */
  readonly exportEveryMs: number;
};
