import { Module } from '@nestjs/common';
import { DiscoveryController } from './discovery.controller.js';
import { HealthController } from './health.controller.js';
import { PingController } from './ping.controller.js';
import { Readiness } from './server.readiness.js';

@Module({ controllers: [DiscoveryController, HealthController, PingController], providers: [Readiness] })
export class EdgeModule {}
