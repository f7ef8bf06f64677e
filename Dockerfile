# An image that serves the database in /data on port 8443. The sources run as they are: Node strips the types.
FROM node:26-bookworm-slim AS dashboard
WORKDIR /app
COPY package.json package-lock.json ./
COPY scripts/build-dashboard.js scripts/
COPY dashboard dashboard
COPY src src
RUN npm ci

FROM node:26-bookworm-slim

WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json ./
COPY scripts/build-dashboard.js scripts/
RUN npm ci --omit=dev && npm cache clean --force
COPY bin bin
COPY src src
COPY --from=dashboard /app/dashboard/dist dashboard/dist
RUN install -d -o node -g node -m 700 /data

USER node
VOLUME /data
EXPOSE 8443
# Inside the container all addresses; what can reach the port is decided by how it is published.
ENV TERRARIUM_DATA=/data TERRARIUM_HOST=0.0.0.0
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8443/ping?scope=read').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--stack-size=3600", "bin/terrarium.js"]
CMD ["serve"]
