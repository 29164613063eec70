export { EdgeModule } from './edge.module.js';
export { HealthController } from './health.controller.js';
export { HostedInterceptor } from './hosted.interceptor.js';
export { createHttpServer, type HttpLimits, type HttpServerOptions } from './http.server.js';
export type { RequestObserver } from './request-observer.http.js';
export type { RateLimits } from './rate-limits.http.js';
export { SelfHostedInterceptor } from './self-hosted.interceptor.js';
export { Readiness } from './server.readiness.js';
