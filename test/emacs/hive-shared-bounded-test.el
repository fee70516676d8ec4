;;; hive-shared-bounded-test.el --- Long histories  -*- lexical-binding: t; -*-

;; Tags: undisturbed

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-shared-test-help)

(ert-deftest hive-shared-bounded/ten-thousand-messages-show-the-last-five-hundred ()
  (hive-shared-test-with
    (hive-shared-test-do "fill" :from "Claude-abc12" :count 10000)
    (hive-shared-test-open)
    (should (= 500 (hive-shared-count)))
    (should (equal "filler 9999" (car (last (hive-shared-test-bodies)))))
    (should (equal "filler 9500" (car (hive-shared-test-bodies))))
    (goto-char (point-max))
    (dotimes (n 30) (hive-shared-test-post (format "news %d" n)))
    (hive-shared-test-wait-for "news 29")
    (hive-test-wait 10 (= 500 (hive-shared-count)))
    (should (= 500 (hash-table-count hive-shared--ids)))
    (should (= 500 (length (hive-shared-test-bodies))))
    (should (equal "filler 9530" (car (hive-shared-test-bodies))))
    ;; Back, page by page.
    (goto-char (point-min))
    (hive-shared-page-back)
    (hive-shared-test-ready)
    (should (= 1000 (hive-shared-count)))
    (should (equal "filler 9030" (car (hive-shared-test-bodies))))
    (hive-shared-page-back)
    (hive-shared-test-ready)
    (should (= 1000 (hive-shared-count)))
    (should hive-shared-later)
    (should (equal "filler 8530" (car (hive-shared-test-bodies))))
    (should (equal "filler 9529" (car (last (hive-shared-test-bodies)))))
    ;; New messages are not shown yet; moving forward shows them.
    (hive-shared-test-post "far below")
    (hive-shared-page-forward)
    (hive-shared-test-ready)
    (should hive-shared-later)
    (should (equal "news 29" (car (last (hive-shared-test-bodies)))))
    (hive-shared-page-forward)
    (hive-shared-test-ready)
    (should-not hive-shared-later)
    (should (equal "far below" (car (last (hive-shared-test-bodies)))))
    (should (= 1000 (hive-shared-count)))
    ;; A notification may come after the page that had its message.
    (hive-shared-receive (hive-shared-last))
    (should-not hive-shared-later)
    ;; Back at the end, the rest is removed.
    (goto-char (point-max))
    (hive-shared-test-post "the last")
    (hive-shared-test-wait-for "the last")
    (hive-test-wait 10 (= 500 (hive-shared-count)))))

(ert-deftest hive-shared-bounded/the-buffer-stays-bounded-if-nobody-reads-on ()
  (hive-shared-test-with
    (let ((hive-shared-limit 10))
      (dotimes (n 10) (hive-shared-test-post (format "old %d" n)))
      (hive-shared-test-open)
      ;; A second window stays at the very top.
      (goto-char (hive-shared-top))
      (dotimes (n 30) (hive-shared-test-post (format "news %d" n)))
      (hive-test-wait 10 (and hive-shared-later (= 20 (hive-shared-count))))
      (should (= (point) (hive-shared-top)))
      (should (looking-at "## "))
      (hive-shared-latest)
      (hive-shared-test-ready)
      (hive-shared-test-wait-for "news 29")
      (hive-test-wait 10 (= 10 (hive-shared-count))))))

(provide 'hive-shared-bounded-test)
;;; hive-shared-bounded-test.el ends here
