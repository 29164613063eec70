import { Module } from '@nestjs/common';
import { DiscoveryController } from './health/discovery.controller.js';
import { HealthController } from './health/health.controller.js';
import { PingController } from './health/ping.controller.js';
import { Readiness } from './health/server.readiness.js';

@Module({ controllers: [DiscoveryController, HealthController, PingController], providers: [Readiness] })
export class EdgeModule {}
