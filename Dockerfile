# Serves the database in /data on port 8443, from the compiled program. The root file system may be mounted read-only:
# the service writes only to /data.
FROM node:26-bookworm-slim AS build
WORKDIR /app
COPY . .
# The dependencies include their binaries, so no install scripts are needed.
RUN npm ci --ignore-scripts && node scripts/build-dashboard.js && node scripts/build-package.js
RUN npm ci --ignore-scripts --omit=dev

FROM node:26-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/bin bin
COPY --from=build /app/dist/program dist/program
COPY --from=build /app/dashboard/dist dashboard/dist
RUN install -d -o node -g node -m 700 /data

USER node
VOLUME /data
EXPOSE 8443
# Listens on all addresses of the container. The published ports decide who can connect.
ENV TERRARIUM_DATA=/data TERRARIUM_HOST=0.0.0.0
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8443/ping?scope=read').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--stack-size=3600", "--max-semi-space-size=32", "--v8-pool-size=0", "bin/terrarium.js"]
CMD ["serve"]
