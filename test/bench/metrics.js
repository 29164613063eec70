const LAST_SUCCESS = 'cadastre_scheduled_job_last_success_timestamp_seconds';
const ITEMS = 'cadastre_scheduled_job_items_total';

/** Returns the value of a metric of a scheduled job; 0 while the product has not reported it. */
const valueOf = (metrics, name, job) =>
  Number(new RegExp(`^${name}\\{scheduled_job="${job}"\\} (\\S+)$`, 'm').exec(metrics)?.[1] ?? 0);

/** Returns whether the job has succeeded since the start of the product, and how many items it has processed. */
export const readJob = async (product, job) => {
  const metrics = await product.request('GET', '/metrics');
  return { hasSucceeded: valueOf(metrics, LAST_SUCCESS, job) > 0, items: valueOf(metrics, ITEMS, job) };
};

const RESPONSES = /^cadastre_http_request_duration_seconds_count\{.*status="([45](?!99)\d\d)".*\} (\S+)$/gm;
const OVERLOAD = /^cadastre_overload_refused_requests_total\{.*\} (\S+)$/gm;

/** Returns how many requests the product has refused since its start, by status. 499: the client closed the connection. */
export const readRefusals = async (product) => {
  const metrics = await product.request('GET', '/metrics');
  const refusals = {};
  for (const [, status, count] of metrics.matchAll(RESPONSES))
    refusals[status] = (refusals[status] ?? 0) + Number(count);
  for (const [, count] of metrics.matchAll(OVERLOAD))
    refusals['503 because of overload'] = (refusals['503 because of overload'] ?? 0) + Number(count);
  return refusals;
};

/** Returns the refusals between two readings. */
export const subtractRefusals = (after, before) =>
  Object.fromEntries(
    Object.entries(after)
      .map(([status, count]) => [status, count - (before[status] ?? 0)])
      .filter(([, count]) => count > 0),
  );

/** Returns a line for a case whose runs had errors, with the reasons that the product counted; else no line. */
export const describeErrors = (title, measured) => {
  const errors = measured.reduce((sum, each) => sum + each.errors, 0);
  if (errors === 0) return [];
  const reasons = {};
  for (const each of measured)
    for (const [reason, count] of Object.entries(each.reasons)) reasons[reason] = (reasons[reason] ?? 0) + count;
  const counted = Object.entries(reasons).filter(([, count]) => count > 0);
  const text = counted.map(([reason, count]) => `${count} with ${reason}`).join(', ');
  return [`errors of ${title}: ${errors}, of these ${text === '' ? 'none counted by the product' : text}`];
};
