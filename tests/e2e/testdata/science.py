# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Computes with scipy, pandas, h5py and matplotlib, and prints what comes out; the argument is a folder."""

import io
import os
import sys
import zlib

import h5py
import matplotlib
import numpy
import pandas
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import scipy.special

numpy.set_printoptions(precision=6, suppress=True)
rank = os.environ["PMI_RANK"]

matrix = numpy.arange(64.0).reshape(8, 8) + 9 * numpy.eye(8)
print("solve", scipy.linalg.solve(matrix, numpy.ones(8)))
print("svd", scipy.linalg.svdvals(matrix))
print("qr", numpy.abs(scipy.linalg.qr(matrix)[1].diagonal()))
try:
    scipy.linalg.inv(numpy.zeros((2, 2)))
except numpy.linalg.LinAlgError as error:
    print("inv", error)

print("fft", numpy.abs(scipy.fft.fft(numpy.arange(16.0))))
print("dct", scipy.fft.dct(numpy.arange(8.0)))

print("special", scipy.special.jv(1, 2.5), scipy.special.gamma(4.5), scipy.special.erf(0.3))

sparse = scipy.sparse.diags([numpy.full(99, -1.0), numpy.full(100, 2.5), numpy.full(99, -1.0)], [-1, 0, 1]).tocsc()
print("spsolve", scipy.sparse.linalg.spsolve(sparse, numpy.ones(100))[:4])
print("eigsh", scipy.sparse.linalg.eigsh(sparse, k=3, v0=numpy.ones(100))[0])
print("cg", scipy.sparse.linalg.cg(sparse, numpy.ones(100))[1])

print("quad %.6f" % scipy.integrate.quad(numpy.exp, 0, 1)[0])
flow = scipy.integrate.solve_ivp(lambda t, y: [y[1], -y[0]], (0, 3), [1, 0], method="LSODA")
print("ode", flow.success, numpy.round(flow.y[:, -1], 3))

frame = pandas.DataFrame({"key": ["a", "b", "a", "c"], "value": [1.5, 2.5, 3.5, 4.5]})
frame["when"] = pandas.date_range("2001-02-03", periods=4, freq="D")
print(frame.groupby("key").value.sum().to_string())
print(frame.describe().to_string())
print(pandas.read_csv(io.StringIO(frame.to_csv(index=False))).to_string())

name = os.path.join(sys.argv[1], "rank%s.h5" % rank)
with h5py.File(name, "w") as file:
    file.create_dataset("numbers", data=numpy.arange(100.0) * (int(rank) + 1), compression="gzip")
    file["numbers"].attrs["rank"] = int(rank)
with h5py.File(name) as file:
    print("h5py", rank, file["numbers"][...].sum(), file["numbers"].attrs["rank"], list(file))

matplotlib.use("Agg")
import matplotlib.pyplot  # after the choice of its backend

figure, axes = matplotlib.pyplot.subplots()
axes.plot(numpy.arange(50.0), numpy.sin(numpy.arange(50.0) + int(rank)), label="rank %s" % rank)
axes.set_title(r"$\sin(x + r)$")
axes.legend()
picture = io.BytesIO()
figure.savefig(picture, format="raw")
print("matplotlib", len(picture.getvalue()), zlib.crc32(picture.getvalue()))
