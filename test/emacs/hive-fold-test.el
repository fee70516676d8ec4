;;; hive-fold-test.el --- Folding a long context by its headings  -*- lexical-binding: t; -*-

;; Tags: untrusted

(require 'hive-prompt)
(require 'hive-test-help)

(defconst hive-fold-test-context
  "Before\n# One\na\nb\n\n## One and a half\nc\n```\n# no heading\n```\n# Two\nd\n"
  "A context with three headings.")

(defmacro hive-fold-test-shown (properties &rest body)
  "Run BODY in the buffer of a question with PROPERTIES, a plist."
  (declare (indent 1))
  `(with-temp-buffer
     (hive-prompt-mode)
     (setq hive-prompt--prompt (apply #'hive-test-prompt ,properties))
     (hive-prompt--print)
     ,@body))

(defun hive-fold-test-lines ()
  "Return the lines of the context that are shown, with what is behind them."
  (goto-char (point-min))
  (re-search-forward "^Context\n")
  (let (lines (end (save-excursion (re-search-forward "^What happened") (line-beginning-position 0))))
    (while (< (point) end)
      (unless (invisible-p (point))
        (push (concat (buffer-substring-no-properties (point) (line-end-position))
                      (mapconcat (lambda (overlay) (or (overlay-get overlay 'after-string) ""))
                                 (overlays-in (line-end-position) (1+ (line-end-position))) ""))
              lines))
      (forward-line 1))
    (mapcar #'substring-no-properties (nreverse lines))))

(defun hive-fold-test-tab (heading)
  "Press TAB on HEADING."
  (goto-char (point-min))
  (re-search-forward (concat "^" (regexp-quote heading) "$"))
  (beginning-of-line)
  (call-interactively #'hive-prompt-tab))

(ert-deftest hive-fold-tab-on-a-heading-folds-its-section-and-counts-its-lines ()
  (hive-fold-test-shown (list :context hive-fold-test-context)
    (let ((all (hive-fold-test-lines)))
      (should (member "# no heading" all))
      (hive-fold-test-tab "# One")
      (should (equal '("Before" "# One … 8 lines" "# Two" "d" "") (hive-fold-test-lines)))
      ;; Printing the same text again, as when its history arrives, folds it again.
      (hive-prompt--print)
      (should (equal '("Before" "# One … 8 lines" "# Two" "d" "") (hive-fold-test-lines)))
      (hive-fold-test-tab "# One")
      (should (equal all (hive-fold-test-lines)))
      (hive-fold-test-tab "## One and a half")
      (should (equal '("Before" "# One" "a" "b" "" "## One and a half … 4 lines" "# Two" "d" "")
                     (hive-fold-test-lines)))
      ;; Some of it is hidden: TAB shows that.
      (hive-fold-test-tab "# One")
      (should (equal all (hive-fold-test-lines)))
      (goto-char (point-min))
      (re-search-forward "^# Two")
      (hive-prompt-backtab)
      (should (equal '("Before" "# One … 2 lines" "" "## One and a half … 4 lines" "# Two … 1 line" "")
                     (hive-fold-test-lines)))
      (goto-char (point-min))
      (re-search-forward "^# Two")
      (hive-prompt-backtab)
      (should (equal all (hive-fold-test-lines))))))

(ert-deftest hive-fold-a-long-context-opens-with-its-headings ()
  (let ((long (concat hive-fold-test-context (apply #'concat (make-list hive-fold-lines "e\n")))))
    (hive-fold-test-shown (list :context long)
      (should (equal '("Before" "# One … 2 lines" "" "## One and a half … 4 lines" "# Two … 101 lines" "")
                     (hive-fold-test-lines)))
      ;; Moving there shows it.
      (goto-char (point-min))
      (search-forward "\nd\n")
      (hive-fold-reveal)
      (should (member "d" (hive-fold-test-lines)))
      (hive-fold-show-all)
      ;; More of it has arrived, but the human reads it.
      (setq hive-prompt--prompt (hive-test-prompt :context (concat long "f\n")))
      (hive-prompt--print)
      (should (member "d" (hive-fold-test-lines))))
    (let ((hive-fold-lines nil))
      (hive-fold-test-shown (list :context long)
        (should (member "d" (hive-fold-test-lines)))))
    (hive-fold-test-shown (list :context (concat "# One\n" (make-string 200 ?\n)))
      (should-not (cl-some (lambda (line) (string-search "…" line)) (hive-fold-test-lines))))))

(ert-deftest hive-fold-a-permission-is-never-folded ()
  (hive-fold-test-shown (list :kind "permission" :context (concat hive-fold-test-context (make-string 300 ?\n))
                              :options [(:label "Allow") (:label "Deny")])
    (goto-char (point-min))
    (re-search-forward "^# One")
    (should-not (hive-fold-here-p))
    (hive-prompt-backtab)
    (goto-char (point-min))
    (re-search-forward "^# One")
    (hive-prompt-tab)
    (should-not (cl-some (lambda (overlay) (overlay-get overlay 'invisible))
                         (overlays-in (point-min) (point-max))))
    (should-not (text-property-not-all (point-min) (point-max) 'invisible nil))))

(ert-deftest hive-fold-what-an-agent-writes-elsewhere-is-no-heading ()
  (hive-fold-test-shown (list :question "# Q\nx" :context "# C\ny")
    (goto-char (point-min))
    (re-search-forward "^# Q")
    (should-not (hive-fold-here-p))
    (re-search-forward "^# C")
    (should (hive-fold-here-p))
    ;; Nor is a heading of Hive, which has the same face.
    (re-search-forward "^What happened")
    (should-not (hive-fold-here-p))))
