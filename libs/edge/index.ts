export { EdgeModule } from './edge.module.js';
export { HealthController } from './health/health.controller.js';
export { HostedInterceptor } from './editions/hosted.interceptor.js';
export { createHttpServer, type HttpLimits, type HttpServerOptions } from './server/http.server.js';
export type { RequestObserver } from './server/request-observer.http.js';
export type { RateLimits } from './server/rate-limits.http.js';
export { SelfHostedInterceptor } from './editions/self-hosted.interceptor.js';
export { Readiness } from './health/server.readiness.js';
