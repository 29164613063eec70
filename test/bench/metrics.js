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
