/** Measured in November 2026, each system through its own HTTP API with the same producer and receiver; docs/figures/webhooks.md. */
export const otherSystems = `
Other systems, measured in November 2026 on 2 cores, each through its own HTTP API (ours: before decisions 0030 to 0032)
                                                    Outpost           Svix             Convoy       ours
response to arrival at 200/s, p50/p95/p99 in ms     31/52/57          1.2/2.8/6.2      overloaded   10.7/31/108
both cores busy at 200/s                            61 %, 42 %        70 %, 41 %       98 %, 97 %   99 %, 97 %
as fast as it takes, deliveries a second            842, 1,301        484, 718         156, 202     186-221, 268
draining 20,000, deliveries a second                1,790             2,067            -            2,134
worker killed 3 times: lost / twice / out of order  0 / 0 / 0 or 841  0 / 0 / 318      0 / 19 / 66  0 / 5-98 / 0
longest delay then                                  2.3 s             45 s             130 s        35-40 s`;
